// Unicode normalization in linear time: the engine takes quadratic time for a long run of combining marks, and cannot be interrupted.

/** The Stream-Safe Text Format of Unicode: a joiner, which has no combining class, ends each run of 30 marks. */
const longMarkRun = /\p{M}{30}/gu;

/** Returns a text in a normalization form. A run of more than 30 combining marks, which no language uses, gets a joiner after each 30. */
export const normalizeUnicode = (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string =>
  text.replaceAll(longMarkRun, '$&\u034f').normalize(form);
