import type { PlacedPart, Wish } from './runtime-settings.ts';
import { ownFile } from './settings/own-file.ts';
import type { SettingsPart } from './settings/part.ts';
import { SKILL } from './texts.ts';

export function placeText(path: string, part: SettingsPart): PlacedPart {
  return { use: 'text', paths: [path], part };
}

/** The same text for every program that reads skills, in the folder where it looks for them. */
export function placeSkill(folder: string, { digest }: Wish): PlacedPart {
  const part = ownFile({ text: SKILL, comment: (marker) => `<!-- ${marker} -->` }, digest);
  return placeText(`${folder}/git-handoff/SKILL.md`, part);
}
