/** What stands before the hash in the bytes that an SSHSIG signature covers. */
export function sshsigPrefix(namespace) {
  const string = (text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const hashLength = Buffer.from([0, 0, 0, 64]);
  return Buffer.concat([Buffer.from('SSHSIG'), string(namespace), string(''), string('sha512'), hashLength]);
}
