// Normalizes text for comparison: compatibility forms, lower case, no invisible characters; and splits it into tokens.
import { normalizeUnicode } from '../../core/index.ts';

/** Soft hyphens, joiners, zero-width and directional characters, variation selectors and tag characters. */
const invisible =
  /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\u{E0000}-\u{E0FFF}]/gu;
const nonAscii = /[^\p{ASCII}]/u;

/** Returns a text as it is compared. */
export const normalizeText = (text: string): string =>
  nonAscii.test(text)
    ? normalizeUnicode(text.replaceAll(invisible, ''), 'NFKC').replaceAll(invisible, '').toLowerCase()
    : text.toLowerCase();

const tokenPattern = /[\p{L}\p{N}\p{M}_]+/gu;

/** The tokens of a normalized text: runs of letters, digits and `_`. */
export const splitTokens = (normalized: string): readonly string[] => normalized.match(tokenPattern) ?? [];
