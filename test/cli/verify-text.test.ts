import { expect, test } from 'vitest';
import { formatVerify } from '../../src/cli/commands/reading/verify-text.ts';
import type { Finding } from '../../src/core/error.ts';

const plain = Object.assign((_: string, text: string) => text, { columns: null });

test('thousands of warnings about a revoked key leave the errors in sight', () => {
  const found = (severity: Finding['severity'], n: number): Finding => ({
    code: severity === 'error' ? 'chain_broken' : 'key_revoked',
    severity,
    path: `.handoff/sessions/donna/${n}`,
    message: 'revoked',
    hint: 'look',
  });
  const findings = [...Array.from({ length: 3000 }, (_, n) => found('warning', n)), found('error', 1)];
  const counts = { checked: 4000, records: 3990, first_use: false, given: false, policy_version: 1, root: null };
  const text = formatVerify({ ...counts, valid: false, findings }, plain);
  expect(text.split('\n').length).toBeLessThan(80);
  expect(text).toContain('error chain_broken');
  expect(text).toContain('… and 2,990 more warnings: git handoff verify --json');
});
