// Parses images by content, not by name: format, size, and whether provider APIs accept them.

/** A parsed image. */
export type ImageInfo = {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
  /** False if data is missing. A provider that cannot read an image rejects every later request of the conversation. */
  readonly isComplete: boolean;
};

/** The strictest limits of the large providers: 5 MB in base64, and max pixels per side. */
const maxImageBytes = 3_750_000;
const maxImagePixels = 8000;

/** Parses an image; undefined if the bytes are not one. */
export function parseImage(bytes: Uint8Array): ImageInfo | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return parsePng(data) ?? parseJpeg(data) ?? parseGif(data) ?? parseWebp(data);
}

/** Returns why an image is not shown, as the end of a sentence; undefined if it can be shown. */
export function unsupportedImageReason({ width, height, isComplete }: ImageInfo, size: number): string | undefined {
  if (!isComplete || width === 0 || height === 0) return 'it is damaged or truncated';
  if (size > maxImageBytes)
    return `it has ${size} bytes and at most ${maxImageBytes} are shown; make a smaller copy with a command`;
  if (width > maxImagePixels || height > maxImagePixels)
    return `it has ${width}×${height} pixels and at most ${maxImagePixels} on a side are shown; make a smaller copy with a command`;
  return undefined;
}

const hasSignature = (data: Buffer, signature: string, at = 0): boolean =>
  data.toString('latin1', at, at + signature.length) === signature;

function parsePng(data: Buffer): ImageInfo | undefined {
  if (!hasSignature(data, '\x89PNG\r\n\x1a\n') || !hasSignature(data, 'IHDR', 12) || data.length < 33) return undefined;
  const end = data.lastIndexOf('IEND', undefined, 'latin1');
  const isComplete = end > 0 && end + 8 <= data.length;
  return { mediaType: 'image/png', width: data.readUInt32BE(16), height: data.readUInt32BE(20), isComplete };
}

function parseGif(data: Buffer): ImageInfo | undefined {
  if (!(hasSignature(data, 'GIF87a') || hasSignature(data, 'GIF89a')) || data.length < 14) return undefined;
  const size = { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  return { mediaType: 'image/gif', ...size, isComplete: data.includes(0x3b, Math.max(13, data.length - 1024)) };
}

function parseJpeg(data: Buffer): ImageInfo | undefined {
  if (!hasSignature(data, '\xff\xd8\xff')) return undefined;
  const isComplete = data.includes('\xff\xd9', Math.max(3, data.length - 65_536), 'latin1');
  // Segments with their lengths follow each other until one contains the frame size.
  for (let at = 2; at + 9 < data.length;) {
    if (data[at] !== 0xff) break;
    const kind = data[at + 1] ?? 0;
    const isFrame = kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind);
    if (isFrame)
      return {
        mediaType: 'image/jpeg',
        width: data.readUInt16BE(at + 7),
        height: data.readUInt16BE(at + 5),
        isComplete,
      };
    at += kind === 0xff ? 1 : 2 + data.readUInt16BE(at + 2);
  }
  return { mediaType: 'image/jpeg', width: 0, height: 0, isComplete: false };
}

function parseWebp(data: Buffer): ImageInfo | undefined {
  if (!hasSignature(data, 'RIFF') || !hasSignature(data, 'WEBP', 8) || data.length < 25) return undefined;
  const isComplete = data.readUInt32LE(4) + 8 <= data.length;
  return { mediaType: 'image/webp', ...parseWebpSize(data), isComplete };
}

/** The three kinds of WebP store their size at different offsets. */
function parseWebpSize(data: Buffer): { readonly width: number; readonly height: number } {
  if (hasSignature(data, 'VP8L', 12)) {
    const bits = data.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (data.length < 30) return { width: 0, height: 0 };
  if (hasSignature(data, 'VP8X', 12)) return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
  if (!hasSignature(data, 'VP8 ', 12)) return { width: 0, height: 0 };
  return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
}
