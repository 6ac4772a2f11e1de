import { discoverRepository, type RepositoryDirs } from '../discover.ts';
import { abbreviationIn, ambiguous, readBeginning } from '../refs/ref-names.ts';
import { type Git, readGit, runGit } from '../run.ts';
import { assertRevision, isOid } from './asked-name.ts';
import type { CatFile } from './cat-file.ts';
import { missingObject, wrongType } from './store-error.ts';

/** What git would take a revision for, and whether it names anything. */
export class Revisions {
  readonly #git: Git;
  readonly #catFile: CatFile;
  #dirs: RepositoryDirs | undefined;

  constructor(git: Git, catFile: CatFile) {
    this.#git = git;
    this.#catFile = catFile;
  }

  /**
   * False where the very ref is not there that a revision begins with; throws where it could mean more than one thing. At once
   * where it can: what is asked before the store is closed is still answered.
   */
  mayName(rev: string): boolean | Promise<boolean> {
    assertRevision(rev);
    if (isOid(rev)) return true;
    this.#dirs ??= discoverRepository(this.#git.dir, this.#git.env);
    const beginning = readBeginning(this.#dirs, this.#git, rev);
    const digits = beginning === 'ref' ? abbreviationIn(rev) : null;
    return digits === null ? beginning !== 'absent' : this.#assertNoObject(rev, digits);
  }

  /** A ref may be called like the first digits of an id, and git would take the ref. */
  async #assertNoObject(rev: string, digits: string): Promise<true> {
    const found = (await readGit(this.#git, ['rev-parse', `--disambiguate=${digits}`])).toString('latin1');
    if (found === '') return true;
    throw ambiguous(rev, ['a ref of that name', ...found.trim().split('\n').slice(0, 8)]);
  }

  // cat-file says "missing" for a name that names nothing and for an object that is gone; only the first is an absence.
  async assertAbsent(rev: string, wanted?: 'tree' | 'commit'): Promise<void> {
    const found = await this.#catFile.info(`${rev}^{}`);
    const fits = found?.type === wanted || (found?.type === 'commit' && wanted === 'tree');
    if (found && wanted && !fits) throw wrongType(found.oid, wanted, found.type);
    if (found || isOid(rev)) throw missingObject(rev);
    const { code, stdout } = await runGit(this.#git, ['rev-parse', '--verify', '--quiet', rev]);
    if (code === 0) throw missingObject(`${rev} (${stdout.toString('latin1').trim()})`);
  }
}
