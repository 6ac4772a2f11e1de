/** Whether an error has a code, one of these if some are named: the system's, such as ENOENT, or ours. What has none is a bug. */
export function hasCode(error: unknown, ...codes: readonly string[]): error is Error & { code: string } {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return codes.length === 0 || codes.includes(error.code);
}
