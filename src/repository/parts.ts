import type { Host } from '../disk/moment.ts';
import type { GitConfig } from '../git/config.ts';
import type { Discards } from '../git/discards.ts';
import type { RepositoryDirs } from '../git/discover.ts';
import type { IndexFile } from '../git/index/index-file.ts';
import type { NativeGitStore } from '../git/objects/native-store.ts';
import type { Git } from '../git/run.ts';

// What an open repository consists of. A function of a room below the verbs names the parts that it needs, so that its first
// line says what it can read and change; one that needs more than three of them does a verb's work and takes the whole.

/** What git keeps, and git itself. */
export interface GitAccess {
  git: Git;
  store: NativeGitStore;
}

/** Where git's directories and the work tree are. */
export interface Directories {
  dirs: RepositoryDirs;
  /** Which work tree of the repository this is, wherever the repository is moved: `.`, or `worktrees/<name>`. */
  worktree: string;
}

/** What users and administrators have set. */
export interface Settings {
  env: NodeJS.ProcessEnv;
  config(): Promise<GitConfig>;
  /** Writes to the repository's configuration; what was read of it before is read again. */
  setConfig(key: string, value: string): Promise<void>;
}

/** Where locks, pins, the journal and caches are: shared by all work trees, outside the tree. */
export interface StateDirectory {
  stateDir: string;
  /** Which build wrote a cache: another one does not read it. Null: no caching. */
  build: string | null;
}

/** What time it is, and on which machine: what decides whether a process that wrote something still lives. */
export interface TimeAndHost {
  now(): Date;
  host: Host;
}

/** The index, which belongs to the user. */
export interface IndexAccess {
  index: IndexFile;
  /** Files that were replaced, being removed. */
  discards: Discards;
}

/** Told to a person while a verb is at work. */
export interface Messages {
  /** What a person should know although nothing failed. */
  warn(message: string): void;
  progress(checked: number): void;
}
