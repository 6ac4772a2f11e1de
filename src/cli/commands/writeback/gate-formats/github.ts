import type { Finding } from '../../../../core/error.ts';
import type { GateResult } from '../../../../gate/result.ts';
import { escapeLine } from '../../../text/escape.ts';
import { count, lines } from '../../../text/layout.ts';
import { bySeverity, placeOf, reasonOf, verdictLine } from './facts.ts';

/** GitHub shows no more of one kind from one step. */
const MOST = 10;

/** Workflow commands, which become annotations in the files of a pull request; then the verdict. */
export function formatAnnotations(result: GateResult): string {
  const { errors, warnings } = bySeverity(result);
  const all = [...errors, ...warnings];
  const rest = all.length - MOST;
  return lines(
    all.slice(0, MOST).map(annotation),
    rest > 0 ? [`::notice title=git-handoff::${count(rest, 'more finding')}: see the summary of this job`] : [],
    verdictLine(result),
  );
}

function annotation(finding: Finding): string {
  const { severity, code, path, line, hint } = finding;
  const place = path === undefined ? placeOf(finding) : null;
  const properties = [
    ...(path === undefined ? [] : [['file', path], ...(line === undefined ? [] : [['line', String(line)]])]),
    ['title', code],
  ];
  const message = [place ?? [], reasonOf(finding), `What to do: ${hint}`].flat().map(escapeLine).join('\n');
  return `::${severity} ${properties.map(([key, value]) => `${key}=${property(value!)}`).join(',')}::${data(message)}`;
}

/** A line break would begin a command of its own. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** A comma or colon would end the value. */
function property(text: string): string {
  return data(escapeLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
