import type { Runtime } from './runtime.ts';
import type { SettingsPart } from './settings/part.ts';

/** What a part is for. A runtime that has our hooks somewhere is connected there. */
type Use = 'hooks' | 'server' | 'text';

/** A part of ours, and where it goes. */
export interface PlacedPart {
  use: Use;
  /** From the top of the work tree, or absolute. Of several the first that exists, and where none does, the first. */
  paths: readonly string[];
  part: SettingsPart;
}

/** How a user wants to be connected, and what it takes to write it. */
export interface Wish {
  as?: string | undefined;
  /** Tells a file of ours from one that a user has edited. */
  digest(text: string): string;
}

/** Where a user's own settings are. */
export interface UserPlaces {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
}

export type Scope = 'project' | 'user';

/** Where a program keeps what its user has trusted, and how to read it. */
export interface ProgramTrust {
  file(places: UserPlaces): string;
  /** `text` is of that file. Whoever cannot read it knows nothing, and says so by throwing. */
  isGiven(text: string, connected: Connected): boolean;
}

/** What is to be trusted: the top of a work tree, or null for a user's own settings, and where our hooks are. */
export interface Connected {
  top: string | null;
  hooksFile: string;
}

/** A runtime with what it takes to connect it: what we write where, and what no file can do. */
export interface RuntimeProgram extends Runtime {
  /** Of its own events those that a hook of ours is for. */
  events: readonly string[];
  /** In the repository, for whoever opens it. */
  project(wish: Wish): PlacedPart[];
  /** In the user's home, for all repositories. */
  user(wish: Wish, places: UserPlaces): PlacedPart[];
  /** Null for one that asks nobody whether a repository may have hooks. */
  trust: ProgramTrust | null;
  /** What is left to a person: sentences. */
  byHand: Readonly<Record<Scope, readonly string[]>>;
}
