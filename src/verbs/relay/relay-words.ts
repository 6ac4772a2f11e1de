/** What a relay has to say to the agent at this event, before anybody else. */
export interface RelayWords {
  context?: string;
  hold?: string;
  /** A session was opened for the agent. */
  isOpened?: boolean;
}
