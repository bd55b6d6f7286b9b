// Finds near-duplicates among findings: greedy clusters by place and words. Places that are apart are never one finding. The time is bounded for any input.
import { minOf } from '../../../core/index.ts';
import { badOptionError } from '../errors.ts';
import type { Finding, FindingSource, KeptFinding } from './finding.ts';
import {
  createTermComparison,
  doubtfulShares,
  mergeThresholds,
  nearLines,
  prepareFinding,
  compareLocations,
  type LocationProximity,
  type PreparedFinding,
  type TermComparison,
} from './similarity.ts';

/** A finding with the participant that made it and the item that it was made from. */
export type SourcedFinding = Finding & { readonly by?: string; readonly item?: string };

/** Two kept findings that may be the same. */
export type DoubtfulPair = {
  /** Positions in `kept`. */
  readonly first: number;
  readonly second: number;
  readonly similarity: number;
};

/** The kept findings in the order of their places, and the pairs that words cannot decide, most similar first. */
export type DedupeResult = { readonly kept: readonly KeptFinding[]; readonly doubtful: readonly DoubtfulPair[] };

/** Options of dedupeFindings. */
export type DedupeOptions = {
  /** Replaces the similarity from which findings are the same, by the proximity of their locations. */
  readonly thresholds?: Partial<Readonly<Record<Exclude<LocationProximity, 'far'>, number>>>;
};

/** More findings are refused. */
export const maxFindings = 20_000;
/** The clusters that a finding is compared with at most. */
const maxCompared = 120;
/** The clusters that a word leads to at most, latest first. */
const maxPostings = 40;
/** The members of a cluster that a finding is compared with. */
const maxMembersCompared = 5;
const maxDoubtful = 1000;
/** The lines from the first to the last of a cluster. */
const maxSpread = 10;
/** Another place that fits this well makes it unclear where a finding belongs. */
const ambiguousShare = 0.8;

type Cluster = {
  readonly id: number;
  readonly members: PreparedFinding[];
  readonly start: number | undefined;
  end: number;
};
type OpenDoubt = { readonly first: Cluster; readonly second: Cluster; readonly similarity: number };

/** Merges findings that say the same about the same place. The result does not depend on the order of the findings. */
export function dedupeFindings(findings: readonly SourcedFinding[], options: DedupeOptions = {}): DedupeResult {
  if (findings.length > maxFindings)
    throw badOptionError(`At most ${maxFindings} findings are compared, not ${findings.length}.`);
  const thresholds = { ...mergeThresholds, ...options.thresholds };
  const prepared = findings.map((finding, index) => prepareFinding(finding, index));
  const equal = Map.groupBy(prepared, ({ key }) => key);
  const distinct = [...equal.values()]
    .map((group) => group.reduce((a, b) => (compareOrder(b, a, findings) < 0 ? b : a)))
    .toSorted((a, b) => compareOrder(a, b, findings));
  const compareTerms = createTermComparison(distinct);
  const clusters: Cluster[] = [];
  const doubts: OpenDoubt[] = [];
  const candidates = createCandidates();
  for (const finding of distinct) {
    const found = candidates.find(finding).flatMap((cluster) => {
      const share = compareWithCluster(finding, cluster, compareTerms, thresholds);
      return share?.isDoubtful ? [{ cluster, ...share }] : [];
    });
    const best = selectBest(finding, found);
    const near = found.filter((each) => each !== best);
    const cluster = best?.cluster ?? { id: clusters.length, members: [], start: finding.start, end: 0 };
    if (!best) clusters.push(cluster);
    cluster.members.push(finding);
    cluster.end = Math.max(cluster.end, finding.end);
    candidates.add(finding, cluster);
    for (const { cluster: other, similarity } of near)
      if (other !== cluster) doubts.push({ first: other, second: cluster, similarity });
  }
  const sourcesOf = ({ members }: Cluster): readonly FindingSource[] =>
    members.flatMap(({ key }) => (equal.get(key) ?? []).map(({ index }) => toSource(findings[index], index)));
  return {
    kept: clusters.map((cluster) => createKept(sourcesOf(cluster))),
    doubtful: selectDoubtful(doubts),
  };
}

/** The decision of a judge about two kept findings. */
export type JudgedPair = Pick<DoubtfulPair, 'first' | 'second'> & { readonly same: boolean };

type Group = { readonly members: number[]; readonly votes: Map<Group, number> };

/** Merges kept findings by the decisions of a judge. Groups are merged only if more pairs between them were called the same than different, and if their places are not apart, so that one error does not join two groups. */
export function mergeKept(kept: readonly KeptFinding[], pairs: readonly JudgedPair[]): readonly KeptFinding[] {
  const groups: Group[] = kept.map((_, i) => ({ members: [i], votes: new Map() }));
  const places = kept.map(({ sources }) => sources.map((source) => prepareFinding(source, source.index)));
  const addVotes = (a: Group, b: Group, votes: number): void => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const)
      from.votes.set(to, (from.votes.get(to) ?? 0) + votes);
  };
  for (const { first, second, same } of pairs) {
    const [a, b] = [groups[first], groups[second]];
    if (a && b && a !== b) addVotes(a, b, same ? 1 : -1);
  }
  const isApart = (a: Group, b: Group): boolean => {
    const [x, y] = [a, b].map(({ members }) =>
      members.flatMap((i) => places[i] ?? []).filter(({ start }) => start !== undefined),
    );
    if (!x?.length || !y?.length) return false;
    return !x.some((one) => y.some((other) => compareLocations(one, other) !== 'far'));
  };
  // The groups with the most support first; of equal ones those that come first. Each step removes votes, so that it ends.
  for (;;) {
    let best: { readonly a: Group; readonly b: Group; readonly support: number } | undefined;
    for (const a of groups) {
      for (const [b, votes] of a.votes) {
        if (votes <= 0) continue;
        const support = votes + countAgreement(a, b) / 2;
        if (!best || support > best.support) best = { a, b, support };
      }
    }
    if (!best) break;
    const { a, b } = best;
    a.votes.delete(b);
    b.votes.delete(a);
    if (isApart(a, b)) continue;
    a.members.push(...b.members);
    groups.splice(groups.indexOf(b), 1);
    for (const [other, votes] of b.votes) {
      other.votes.delete(b);
      addVotes(a, other, votes);
    }
  }
  return groups
    .toSorted((a, b) => minOf(a.members) - minOf(b.members))
    .map(({ members }) => createKept(members.flatMap((i) => kept[i]?.sources ?? [])));
}

/** How many other groups were judged alike against both groups, less those that were judged differently. */
function countAgreement(a: Group, b: Group): number {
  let agreement = 0;
  for (const [other, votes] of a.votes)
    if (other !== b) agreement += Math.sign(votes) * Math.sign(b.votes.get(other) ?? 0);
  return agreement;
}

function createKept(sources: readonly FindingSource[]): KeptFinding {
  const sorted = sources.toSorted((a, b) => a.index - b.index);
  // The most exact place with the longest text: it says most.
  const rank = ({ file, lines, text }: FindingSource): number =>
    (file === undefined ? 0 : 1e6) + (lines === undefined ? 0 : 1e6) + Math.min(text.length, 1e5);
  const best = sorted.reduce((a, b) => (rank(b) > rank(a) ? b : a));
  const { text, file, lines } = best;
  return { text, ...(file === undefined ? {} : { file }), ...(lines === undefined ? {} : { lines }), sources: sorted };
}

const toSource = (finding: SourcedFinding | undefined, index: number): FindingSource => ({
  text: '',
  ...finding,
  index,
});

/** By place, then by length and text: independent of the order of the input. */
function compareOrder(a: PreparedFinding, b: PreparedFinding, findings: readonly SourcedFinding[]): number {
  const [x, y] = [findings[a.index]?.text ?? '', findings[b.index]?.text ?? ''];
  return (
    compareText(a.file ?? '\uFFFF', b.file ?? '\uFFFF') ||
    (a.start ?? Number.MAX_SAFE_INTEGER) - (b.start ?? Number.MAX_SAFE_INTEGER) ||
    a.end - b.end ||
    y.length - x.length ||
    compareText(x, y)
  );
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

type Comparison = { readonly share: number; readonly similarity: number; readonly isDoubtful: boolean };
type ComparedCluster = Comparison & { readonly cluster: Cluster };

/** The cluster that a finding joins. Without a place of its own it joins none if several places fit about as well. */
function selectBest(finding: PreparedFinding, found: readonly ComparedCluster[]): ComparedCluster | undefined {
  const [best, second] = found.filter(({ share }) => share >= 1).toSorted((a, b) => b.share - a.share);
  const hasPlace = finding.file !== undefined && finding.start !== undefined;
  return best && second && !hasPlace && second.share > best.share * ambiguousShare ? undefined : best;
}

/** The similarity to the most similar member as a share of the threshold for their places; undefined if the places are apart. */
function compareWithCluster(
  finding: PreparedFinding,
  { members, start, end }: Cluster,
  compareTerms: TermComparison,
  thresholds: Readonly<Record<Exclude<LocationProximity, 'far'>, number>>,
): Comparison | undefined {
  // Findings that are each near the next one could lead from one place to another.
  if (finding.start !== undefined && start !== undefined && finding.end - start > Math.max(maxSpread, end - start))
    return undefined;
  let best: Comparison | undefined;
  for (const member of members.slice(0, maxMembersCompared)) {
    if (member.file !== undefined && finding.file !== undefined && member.file !== finding.file) return undefined;
    const proximity = compareLocations(finding, member);
    if (proximity === 'far') continue;
    const similarity = compareTerms(finding, member, proximity);
    const share = similarity / thresholds[proximity];
    if (share > (best?.share ?? -1)) best = { share, similarity, isDoubtful: share >= doubtfulShares[proximity] };
  }
  return best;
}

/** Finds the clusters that a finding may belong to: by shared words, and by the place. */
function createCandidates(): {
  readonly find: (finding: PreparedFinding) => readonly Cluster[];
  readonly add: (finding: PreparedFinding, cluster: Cluster) => void;
} {
  const byTerm = new Map<string, Cluster[]>();
  /** Clusters of the present file, in the order of their first line. */
  let active: Cluster[] = [];
  let file: string | undefined;
  return {
    find: (finding) => {
      if (finding.file !== file) active = [];
      ({ file } = finding);
      const { start } = finding;
      if (start !== undefined) active = active.filter(({ end }) => end + nearLines >= start);
      const counts = new Map<Cluster, number>();
      for (const cluster of active.slice(-maxCompared)) counts.set(cluster, 1);
      for (const term of finding.terms)
        for (const cluster of byTerm.get(term) ?? []) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
      return [...counts]
        .toSorted(([a, x], [b, y]) => y - x || a.id - b.id)
        .slice(0, maxCompared)
        .map(([cluster]) => cluster);
    },
    add: (finding, cluster) => {
      if (!active.includes(cluster)) active.push(cluster);
      for (const term of finding.terms) {
        const list = byTerm.get(term) ?? [];
        if (list.at(-1) === cluster) continue;
        list.push(cluster);
        if (list.length > maxPostings) list.shift();
        byTerm.set(term, list);
      }
    },
  };
}

/** The most similar pairs; each pair once. */
function selectDoubtful(doubts: readonly OpenDoubt[]): readonly DoubtfulPair[] {
  const pairs = new Map<string, DoubtfulPair>();
  for (const { first, second, similarity } of doubts) {
    const [a, b] = first.id < second.id ? [first.id, second.id] : [second.id, first.id];
    const known = pairs.get(`${a} ${b}`);
    if (!known || known.similarity < similarity) pairs.set(`${a} ${b}`, { first: a, second: b, similarity });
  }
  return [...pairs.values()]
    .toSorted((a, b) => b.similarity - a.similarity || a.first - b.first || a.second - b.second)
    .slice(0, maxDoubtful);
}
