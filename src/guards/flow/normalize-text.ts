// Normalizes text for comparison: compatibility forms, lower case, no invisible characters; and splits it into tokens.
import { normalizeUnicode } from '../../core/index.ts';

/** Soft hyphens, joiners, zero-width and directional characters, variation selectors and tag characters. */
const invisible = /\p{Cf}|\p{Variation_Selector}|\p{Default_Ignorable_Code_Point}|[\u2800]/gu;
const nonAscii = /[^\p{ASCII}]/u;

/** Returns a text as it is compared. */
export const normalizeText = (text: string): string =>
  nonAscii.test(text)
    ? normalizeUnicode(text.replaceAll(invisible, ''), 'NFKC').replaceAll(invisible, '').toLowerCase()
    : text.toLowerCase();

const tokenPattern = /[\p{L}\p{N}\p{M}_]+/gu;

/** The tokens of a normalized text: runs of letters, digits and `_`. */
export const splitTokens = (normalized: string): readonly string[] => normalized.match(tokenPattern) ?? [];

/** The tokens of a value as they are compared. */
export const valueTokens = (value: string): readonly string[] => splitTokens(normalizeText(value));
