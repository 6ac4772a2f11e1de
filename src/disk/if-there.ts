/** What a read gives; null when there is nothing to read. Anything else that goes wrong is an error. */
export function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
