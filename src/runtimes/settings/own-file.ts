import { refusal, type SettingsPart } from './part.ts';

/** A digest of the text that a marker is beside: hash functions are the platform's. */
export type Digest = (text: string) => string;

interface OwnFile {
  /** Stands in for the marker. */
  text: string;
  /** The marker as a comment of the file's language. */
  comment(marker: string): string;
}

const PLACE = '%MARKER%';
const MARKER = /git handoff connect wrote this file \(([0-9a-f]{16})\); edit it and it is yours/;

/** A file that is ours alone. The marker has a digest of the rest, so that one that a user has edited is left to them. */
export function ownFile({ text, comment }: OwnFile, digest: Digest): SettingsPart {
  const marked = (hash: string): string =>
    text.replace(PLACE, comment(`git handoff connect wrote this file (${hash}); edit it and it is yours`));
  const whole = marked(digest(marked('')));
  return {
    added(found) {
      if (found === null || isUntouched(found, digest)) return whole;
      throw refusal(
        MARKER.test(found) ? 'was edited, and connect wrote another text' : 'is there, and connect did not write it',
        'Move it away, and try again.',
      );
    },
    removed: (found) => (isUntouched(found, digest) ? null : found),
    state(found) {
      if (found === null) return 'absent';
      return isUntouched(found, digest) ? 'complete' : 'harmed'; // under which name it acts is its own affair
    },
  };
}

/** Also one that an earlier version wrote. */
function isUntouched(found: string, digest: Digest): boolean {
  const hash = MARKER.exec(found)?.[1];
  return hash !== undefined && digest(found.replace(`(${hash})`, '()')) === hash;
}
