// What a check could not confirm in an answer, and links in it that come from text of third parties: the type, and the format for a user.

/** A statement of an answer that a check compared with the log or with other evidence and could not confirm. */
export type UnconfirmedClaim = {
  /** `link` is a link whose host only text of a third party names. */
  readonly kind?: 'link';
  /** The statement, as the answer makes it. */
  readonly text: string;
  /** Why it is not confirmed. */
  readonly why: string;
  /** The part of the answer that makes the statement: UTF-16 offsets, the second one exclusive. */
  readonly span?: readonly [number, number];
  /** The events that decided, by seq. */
  readonly events?: readonly number[];
};

/** The statements as text for a user: one line for one statement, otherwise a list. Links have a list of their own. */
export function formatUnconfirmedClaims(
  claims: readonly UnconfirmedClaim[],
  title = 'Not confirmed by the log',
): string {
  const parts = [
    formatList(
      claims.filter(({ kind }) => kind !== 'link'),
      title,
    ),
    formatList(
      claims.filter(({ kind }) => kind === 'link'),
      'Links of third parties',
    ),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function formatList(claims: readonly UnconfirmedClaim[], title: string): string {
  const lines = claims.map(({ text, why }) => `"${text.replaceAll(/\s+/g, ' ')}" ${why}`);
  if (lines.length === 0) return '';
  return lines.length === 1 ? `${title}: ${lines[0]}` : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}
