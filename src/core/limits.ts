/** SPEC §3.1: a file larger than this is refused before it is read. */
export const MAX_RECORD_BYTES = 256 * 1024;
export const MAX_FRONT_MATTER_BYTES = 64 * 1024;
/** SPEC §11.1: a seal is an entry of a log, whose length is written in two bytes. */
export const MAX_SEAL_BYTES = 65_535;
