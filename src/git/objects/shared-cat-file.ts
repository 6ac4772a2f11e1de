import type { GitConfig } from '../config.ts';
import type { Git } from '../run.ts';
import { CatFile, type GitObject, type ObjectHeader, type ObjectParts } from './cat-file.ts';

/**
 * The process of another work tree of the same repository, asked from this one: objects and branches are the same, and only HEAD has
 * another name there. Whoever started the process ends it.
 */
export class SharedCatFile extends CatFile {
  readonly #shared: CatFile;
  readonly #head: string;

  /** `head`: what HEAD of this work tree is called in all of them, such as `worktrees/one/HEAD`. */
  constructor(git: Git, shared: CatFile, head: string) {
    super(git);
    this.#shared = shared;
    this.#head = head;
  }

  override info(rev: string): Promise<ObjectHeader | null> {
    return this.#shared.info(this.#named(rev));
  }

  override contents(rev: string, limit?: number): Promise<GitObject | null> {
    return this.#shared.contents(this.#named(rev), limit);
  }

  override contentsInParts(rev: string): Promise<ObjectParts | null> {
    return this.#shared.contentsInParts(this.#named(rev));
  }

  override contentsOfAll(...[revs, limit, take]: Parameters<CatFile['contentsOfAll']>): Promise<void> {
    return this.#shared.contentsOfAll(
      revs.map((rev) => this.#named(rev)),
      limit,
      take,
    );
  }

  override config(): Promise<GitConfig | null> {
    return this.#shared.config();
  }

  override getReady(): void {
    this.#shared.getReady();
  }

  override async close(): Promise<void> {}

  override leave(): void {}

  #named(rev: string): string {
    return rev.replace(/^HEAD(?![\w./-])/, this.#head);
  }
}
