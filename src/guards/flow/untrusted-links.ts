// Finds the links of an answer whose host only text of a third party names, so that they are shown as such.
import type { UnconfirmedClaim, Verdict } from '../../core/index.ts';
import type { FlowLog } from './flow-log.ts';
import type { FlowFold } from './fold-log.ts';
import { labelValue } from './label-value.ts';
import { valueTokens, type FlowState } from './flow-state.ts';

const linkPattern = /(?:https?:\/\/|www\.|mailto:)[^\s<>"'`|()[\]{}]{1,2000}/gi;
const unknownSource: ReturnType<typeof labelValue> = { label: 'untrusted' };
/** A text can have thousands of links. */
const maxLinks = 20;
/** Longer links are cut where they are shown; their host is at the beginning. */
const maxShownChars = 300;

/** Returns the links of an answer that come from text of a third party, one for each host; all links if the state of the session is not known. */
export function findUntrustedLinks(state: FlowState | undefined, answer: string): readonly UnconfirmedClaim[] {
  const found = new Map<string, UnconfirmedClaim>();
  for (const { 0: match, index } of answer.matchAll(linkPattern)) {
    const link = match.replace(/[.,;:!?*_]{1,20}$/, '');
    const host = readHost(link);
    if (found.has(host)) continue;
    const { label, source } = state ? labelValue(state, 'url', link.replace(/^mailto:/i, '')) : unknownSource;
    // A host that shares a word with a text is not a host of that text.
    if (label !== 'untrusted' || (state && !state.findUntrusted(valueTokens(host.replace(/^www\./, ''))))) continue;
    const from = source ? ` (${source.tool})` : '';
    found.set(host, {
      kind: 'link',
      text: link.slice(0, maxShownChars),
      why: `comes from text of a third party${from}, its host is ${host}. It was not opened.`,
      span: [index, index + link.length],
    });
    if (found.size === maxLinks) break;
  }
  return [...found.values()];
}

/** The host that a client would contact; of a mail address the part after the at sign. */
function readHost(link: string): string {
  if (/^mailto:/i.test(link))
    return link
      .replace(/\?.*$/, '')
      .replace(/^.*[@:]/, '')
      .toLowerCase();
  const url = link.toLowerCase().startsWith('www.') ? `http://${link}` : link;
  return URL.canParse(url) ? new URL(url).host : url.slice(0, 100);
}

/** Marks the links of third parties in an answer. Without the policy nothing is known about a text, so that each link is marked. */
export async function checkLinks(
  policy: Promise<{ readonly fold: FlowFold }>,
  log: FlowLog,
  answer: string,
): Promise<Verdict> {
  const state = await policy.then(
    async ({ fold }) => (await fold.readInSlices(log)).state,
    () => undefined,
  );
  const claims = findUntrustedLinks(state, answer);
  return claims.length > 0 ? { type: 'passed', claims } : { type: 'passed' };
}
