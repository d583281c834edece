import { crc32, deflateRawSync } from 'node:zlib';

/** The first of January 1980, the earliest time that the format can represent: the same files give the same bytes. */
const time = 0x0021_0000;

/**
 * An archive of files, in their order. Its format: PKWARE's APPNOTE, 4.3.
 * @param {readonly {name: string, bytes: Buffer}[]} files names with `/`, of ASCII
 * @returns {Buffer}
 */
export function zipped(files) {
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {Buffer[]} */
  const directory = [];
  let offset = 0;
  for (const { name, bytes } of files) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const path = Buffer.from(name, 'ascii');
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x0403_4b50, 0);
    header.writeUInt16LE(20, 4);
    header.writeUInt16LE(8, 8);
    header.writeUInt32LE(time, 10);
    header.writeUInt32LE(crc32(bytes), 14);
    header.writeUInt32LE(packed.length, 18);
    header.writeUInt32LE(bytes.length, 22);
    header.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x0201_4b50, 0);
    // Made on Unix, so that the attributes are those of a file that everybody may read.
    entry.writeUInt16LE(0x0314, 4);
    header.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(0o100644 * 0x1_0000, 38);
    entry.writeUInt32LE(offset, 42);
    parts.push(header, path, packed);
    directory.push(entry, path);
    offset += header.length + path.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
