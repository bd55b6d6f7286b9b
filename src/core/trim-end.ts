// Removes characters from the end of a text in linear time.

/**
 * Returns the text without the characters of `chars` at its end. A regular expression such as `/x+$/` tries every start of a run,
 * so a long run of `x` before the end takes quadratic time.
 */
export function trimEndChars(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The characters that `\s` matches in a regular expression. */
export const whitespaceChars =
  ' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
