import type { Excerpt } from '../../../core/text/excerpt.ts';
import type { Warning } from '../../../custody/bundle.ts';
import type { Paint } from '../../terminal.ts';
import { shortId } from '../../text/layout.ts';

/** The record has the rest. */
export function excerpt({ text, cut, delta_id }: Excerpt & { delta_id: string }): string {
  return cut ? `${text} (git handoff show ${shortId(delta_id)})` : text;
}

export function section(title: string, items: readonly string[], paint: Paint): string[] {
  return items.length === 0 ? [] : [paint('bold', title), ...items.map((item) => `  ${item}`)];
}

export function warnings(found: readonly Warning[], paint: Paint): string[] {
  return found.map(({ message }) => `${paint('yellow', 'warning:')} ${message}`);
}

export function time(at: string): string {
  return at.slice(0, 16).replace('T', ' ');
}

export function paintState(state: string, paint: Paint): string {
  const style = { active: 'green', stale: 'yellow', released: 'red' }[state.trim()] as
    | 'green'
    | 'yellow'
    | 'red'
    | undefined;
  return style ? paint(style, state) : state;
}
