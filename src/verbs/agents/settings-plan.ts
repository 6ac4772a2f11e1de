import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { PlacedPart } from '../../runtimes/runtime-settings.ts';
import { type Boundary, readSettings, type SettingsFile, settingsRefused } from './settings-file.ts';

/** Where parts are placed, and how far a link may lead. */
export interface Place {
  top: string;
  boundary: Boundary;
}

/** A file, and what is to become of it. */
export interface PlannedFile extends SettingsFile {
  /** Null: it is to be removed, or not to be made. */
  planned: string | null;
}

/** What a call is to change, before it changes anything. Parts of several programs may go into one file. */
export class SettingsPlan {
  readonly #place: Place;
  readonly #files = new Map<string, PlannedFile>();

  constructor(place: Place) {
    this.#place = place;
  }

  add(placed: PlacedPart): PlannedFile {
    const file = this.#open(placed);
    file.planned = refusing(file.path, () => placed.part.added(file.planned));
    return file;
  }

  remove(placed: PlacedPart): PlannedFile {
    const file = this.#open(placed);
    const { planned } = file;
    if (planned !== null) file.planned = refusing(file.path, () => placed.part.removed(planned));
    return file;
  }

  /** What a file has of a part now. */
  look(placed: PlacedPart): { file: PlannedFile; state: ReturnType<PlacedPart['part']['state']> } {
    const file = this.#open(placed);
    return { file, state: refusing(file.path, () => placed.part.state(file.planned)) };
  }

  get files(): PlannedFile[] {
    return [...this.#files.values()];
  }

  /** Two names of one file are one file. */
  #open({ paths }: PlacedPart): PlannedFile {
    const { top, boundary } = this.#place;
    const choices = paths.map((path) => resolve(top, path));
    const path = choices.find((choice) => existsSync(choice)) ?? choices[0] ?? join(top);
    const file = readSettings(path, boundary);
    const opened = this.#files.get(file.target) ?? { ...file, planned: file.text };
    this.#files.set(file.target, opened);
    return opened;
  }
}

/** A part knows what is wrong, and here is known where. */
function refusing<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'settings_refused') throw error;
    throw settingsRefused(path, error.message, error.hint ?? '');
  }
}
