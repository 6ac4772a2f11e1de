import { fromBase64 } from '../bytes/bytes.ts';

export interface SecretHit {
  rule: string;
  /** Where in the text it begins. */
  index: number;
}

/**
 * Secrets that can be known by their form alone. A pattern begins with fixed characters and ends in a repetition that
 * nothing has to follow, or has bounds, or can begin only once in a run: so each takes linear time.
 */
interface Form {
  rule: string;
  pattern: RegExp;
  /** What the pattern cannot say, or says only in more than linear time. */
  isSecret?: (match: RegExpExecArray) => boolean;
}

const FORMS: readonly Form[] = [
  {
    rule: 'private_key',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
    isSecret: hasKeyBelow,
  },
  { rule: 'aws_access_key_id', pattern: /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  {
    rule: 'aws_secret_access_key',
    pattern:
      /(?:aws_?secret(?:_?access)?|secret_?access)_?key["'`]?[ \t]{0,8}[:=]>?[ \t]{0,8}["'`]?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
  },
  { rule: 'github_token', pattern: /gh[pousr]_([A-Za-z0-9]{30,})/g },
  { rule: 'github_token', pattern: /github_pat_([A-Za-z0-9_]{22,})/g },
  { rule: 'gitlab_token', pattern: /gl(?:pat|dt|rt|ptt|cbt|ft|soat)-([A-Za-z0-9_-]{20,})/g },
  { rule: 'slack_token', pattern: /xox[abeoprs]-([A-Za-z0-9-]{10,})/g },
  { rule: 'slack_webhook', pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9+/]{20,})/g },
  { rule: 'stripe_key', pattern: /[rs]k_(?:live|test)_([A-Za-z0-9]{16,})/g },
  { rule: 'openai_key', pattern: /sk-([A-Za-z0-9]{20,})/g },
  { rule: 'openai_key', pattern: /sk-(?:proj|svcacct|admin)-([A-Za-z0-9_-]{20,})/g },
  { rule: 'anthropic_key', pattern: /sk-ant-([A-Za-z0-9_-]{20,})/g },
  { rule: 'google_api_key', pattern: /AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g },
  { rule: 'npm_token', pattern: /npm_([A-Za-z0-9]{30,})/g },
  { rule: 'pypi_token', pattern: /pypi-AgE([A-Za-z0-9_-]{20,})/g },
  { rule: 'sendgrid_key', pattern: /SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,}/g },
  { rule: 'twilio_key', pattern: /SK[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { rule: 'digitalocean_token', pattern: /do[opr]_v1_[0-9a-f]{40,}/g },
  { rule: 'huggingface_token', pattern: /hf_([A-Za-z0-9]{30,})/g },
  { rule: 'azure_storage_key', pattern: /(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,})/g },
  {
    rule: 'jwt',
    pattern: /(?<=\\[nrt]|(?<![A-Za-z0-9_-]))eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{16,}/g,
    isSecret: hasJwtHeader,
  },
  {
    rule: 'password_in_url',
    pattern: /:\/\/([^\s:/?#@"'`<>]{0,128}):([^\s/?#@"'`<>]{3,256})@[\w[]/g,
    isSecret: hasPassword,
  },
];

/** What every form above has one of: most texts are done with after one look for it, whatever their case. */
const TELLING =
  /-----BEGIN |A(?:KI|SI|BI|CC)A|secret|gh[pousr]_|github_pat_|gl[a-z]{2,4}-|xox|hooks\.slack|[rs]k_|sk-|AIza|npm_|pypi-|SG\.|SK[0-9a-f]|do[opr]_v1_|hf_|Key=|eyJ|:\/\//i;

export function findKnownForms(text: string): SecretHit[] {
  if (!TELLING.test(text)) return [];
  return FORMS.flatMap(({ rule, pattern, isSecret = isNoStub }) =>
    Array.from(text.matchAll(pattern))
      .filter((match) => standsAlone(match) && isSecret(match))
      .map(({ index }) => ({ rule, index })),
  );
}

/** Not inside a longer word, such as a digest; but the n of an escaped line break is no part of a word. */
function standsAlone({ input, index, 0: [first] }: RegExpExecArray): boolean {
  if (!/\w/.test(first!)) return true;
  const before = input.slice(Math.max(0, index - 2), index);
  return !/[A-Za-z0-9]$/.test(before) || /^\\[nrt]$/.test(before);
}

/** Stands for a token in a manual: `ghp_xxxxxxxx`, `xoxb-your-token-here`. */
function isNoStub(match: RegExpExecArray): boolean {
  return !/^[xX_-]*$|your[_-]|[_-]here\b|placeholder|redacted/i.test(match[1] ?? 'a');
}

const KEY_WINDOW = 512;

/** Code and manuals name the line that begins a key; a key follows it only where base64 does. */
function hasKeyBelow({ input, index, 0: { length } }: RegExpExecArray): boolean {
  const lines = input
    .slice(index + length, index + length + KEY_WINDOW)
    .split(/\n|\\[rn]/)
    .map((line) => line.replace(/^[\s>|+#*"']+/, ''));
  const first = lines.find((line) => line !== '' && !/^[A-Za-z-]{1,20}: /.test(line)) ?? '';
  return /^[A-Za-z0-9+/]{24}/.test(first) && !/^[0-9a-f]{24}/.test(first);
}

/** Three words with dots are common; a header that is JSON and names its algorithm is not. */
function hasJwtHeader({ 0: token }: RegExpExecArray): boolean {
  const header = token.slice(0, token.indexOf('.')).replaceAll('-', '+').replaceAll('_', '/');
  const bytes = fromBase64(header + '='.repeat((4 - (header.length % 4)) % 4));
  return bytes !== null && /^\{.*"alg"\s*:\s*"/s.test(new TextDecoder().decode(bytes));
}

const WORDS = /^(?:pass(?:word|wd)?|pwd?|secret|token|user(?:name)?|changeme|example|foobar|\.{3}|[x*\u2022]+)$/i;

/** A name, a variable or stars in the place of a password show where one would stand. */
function hasPassword(match: RegExpExecArray): boolean {
  const [user, password] = [match[1]!, match[2]!];
  return (
    !WORDS.test(password) && !/^[$%{[(]|\$\{|^:/.test(password) && password !== user && !/your[_-]/i.test(password)
  );
}
