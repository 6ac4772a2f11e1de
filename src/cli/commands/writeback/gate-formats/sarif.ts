import { createHash } from 'node:crypto';
import type { Finding, FindingCode } from '../../../../core/error.ts';
import type { GateResult } from '../../../../gate/result.ts';
import { toJson } from '../../../json.ts';
import { escapeLine } from '../../../text/escape.ts';
import { reasonOf } from './facts.ts';
import { RULES } from './rules.ts';

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
/** Viewers put the checkout in its place. */
const BASE_ID = '%SRCROOT%';
/** Where a finding points that is about no file: viewers drop what has no place. */
const NO_FILE = '.handoff';

/** SARIF 2.1.0: what code scanners upload, and editors open. */
export function formatSarif(result: GateResult, version: string): string {
  const codes = [...new Set(result.findings.map(({ code }) => code))].sort();
  const driver = { name: 'git-handoff', version, rules: codes.map(rule) };
  const results = result.findings.map((finding) => toResult(finding, codes.indexOf(finding.code)));
  const { pass, base, head, advisory } = result;
  const properties = { pass, base, head, advisory };
  const run = { tool: { driver }, columnKind: 'unicodeCodePoints', results, properties };
  return toJson({ $schema: SCHEMA, version: '2.1.0', runs: [run] });
}

function rule(code: FindingCode): object {
  const about = RULES[code];
  const help = `${about}. Each result says what to do; git handoff gate -h explains the check.`;
  return { id: code, shortDescription: { text: about }, help: { text: help } };
}

function toResult(finding: Finding, ruleIndex: number): object {
  const { code, severity, path, line, record, commit, hint } = finding;
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: [reasonOf(finding), `What to do: ${hint}`].map(messageLine).join('\n') },
    locations: [location(path ?? NO_FILE, line ?? 1)],
    partialFingerprints: { 'gitHandoff/v1': fingerprint(finding) },
    properties: { ...(record === undefined ? {} : { record }), ...(commit === undefined ? {} : { commit }) },
  };
}

function location(path: string, startLine: number): object {
  const artifactLocation = { uri: path.split('/').map(encodeSegment).join('/'), uriBaseId: BASE_ID };
  return { physicalLocation: { artifactLocation, region: { startLine } } };
}

/** encodeURIComponent leaves some characters that a reader of URIs, or of Markdown, could take for its own. */
function encodeSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

/** By 3.11.5 and 3.11.6 of the standard braces are placeholders, and brackets are links. */
function messageLine(text: string): string {
  return escapeLine(text)
    .replace(/[\\[\]]/g, '\\$&')
    .replace(/[{}]/g, '$&$&');
}

/** The same problem is the same in the next run, wherever else it has moved to. */
function fingerprint({ code, path, record, commit }: Finding): string {
  return createHash('sha256')
    .update(JSON.stringify([code, path, record, commit]))
    .digest('hex');
}
