/** SPEC §3.1: a file larger than this is refused before it is read. */
export const MAX_RECORD_BYTES = 256 * 1024;
export const MAX_FRONT_MATTER_BYTES = 64 * 1024;
