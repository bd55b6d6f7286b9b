// Formats the statements of an answer that a check could not confirm.
import type { UnconfirmedClaim } from './fact.ts';

/** The statements as text for a user: one line for one statement, otherwise a list. */
export function formatUnconfirmedClaims(
  claims: readonly UnconfirmedClaim[],
  title = 'Not confirmed by the log',
): string {
  const lines = claims.map(({ text, why }) => `"${text.replaceAll(/\s+/g, ' ')}" ${why}`);
  return lines.length === 1 ? `${title}: ${lines[0]}` : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}
