// Map and reduce: mappers search items for findings in parallel, and near-duplicates become one finding with all its sources. A judge may decide doubtful pairs.
import { createPrompt, type ReadResult, type RoleTask } from './call-member.ts';
import { assertWhole, badOptionError } from './errors.ts';
import {
  dedupeFindings,
  findingsSchema,
  maxFindings,
  mergeKept,
  readFindings,
  type DoubtfulPair,
  type JudgedPair,
  type Finding,
  type KeptFinding,
  type SourcedFinding,
} from './findings/index.ts';
import { resolveMember, type Member, type Participant } from './participant.ts';
import {
  assertPatternOptions,
  isStarted,
  resolveMembers,
  runPool,
  withPatternRun,
  type PatternOptions,
  type PatternReport,
  type PatternRun,
} from './pattern-run.ts';
import { dataSentence, quoteOutside, readObject } from './read-answer.ts';

/** One item that is searched, such as a file. */
export type MapItem = { readonly name: string; readonly text: string };

/** What a mapper gets. */
export type MapperInput = { readonly task: string; readonly item: MapItem };

/** What the judge of doubtful pairs gets. */
export type PairInput = { readonly first: Finding; readonly second: Finding };

/** Options of mapReduce. */
export type MapReduceOptions = PatternOptions & {
  /** What is searched for. */
  readonly task: string;
  readonly items: readonly MapItem[];
  readonly mappers: readonly Participant<MapperInput, readonly Finding[]>[];
  /** The mappers that search each item, in turn; 1 by default. */
  readonly mappersPerItem?: number;
  /** Mappers that run at the same time; 4 by default. */
  readonly parallel?: number;
  /** Decides pairs that words cannot decide. Without it, and if it fails, they stay two findings. */
  readonly judge?: Participant<PairInput, { readonly same: boolean }>;
  /** Pairs that the judge decides at most; 20 by default. */
  readonly maxJudged?: number;
};

/** What became of the search of one item by one mapper. */
export type MappedItem = {
  readonly item: string;
  readonly by: string;
  readonly outcome: 'done' | 'failed' | 'not-started';
  readonly findings: number;
  /** Why it was not done. */
  readonly why?: string;
};

/** The findings without duplicates, and what became of each item. */
export type MapReduceResult = PatternReport & {
  readonly findings: readonly KeptFinding[];
  readonly items: readonly MappedItem[];
  /** The findings before near-duplicates were merged. */
  readonly found: number;
  /** The pairs that may be the same and that no judge decided, as positions in `findings`. */
  readonly doubtful: readonly DoubtfulPair[];
};

const mapperTask: RoleTask<MapperInput, readonly Finding[]> = {
  role: 'mapper',
  schema: findingsSchema,
  format: ({ task, item }) =>
    createPrompt(
      `You search one item for findings. ${dataSentence} Reply with JSON: {"findings": [{"text": "one sentence", "file": "path", "lines": [first, last]}]}; file and lines only if known, and an empty list if there is nothing.`,
      `The task:\n${task}`,
      quoteOutside(`the item ${item.name}`, item.text),
    ),
  read: readFindings,
};

const pairTask: RoleTask<PairInput, { readonly same: boolean }> = {
  role: 'judge',
  schema: {
    type: 'object',
    properties: { same: { type: 'boolean' } },
    required: ['same'],
    additionalProperties: false,
  },
  format: ({ first, second }) =>
    createPrompt(
      `You compare two findings. ${dataSentence} They are the same if one change would settle both. Reply with JSON: {"same": true or false}.`,
      quoteOutside('the first finding', formatFinding(first)),
      quoteOutside('the second finding', formatFinding(second)),
    ),
  read: (value): ReadResult<{ readonly same: boolean }> => {
    const same = readObject(value)?.['same'];
    return typeof same === 'boolean'
      ? { value: { same } }
      : { problem: 'The judge did not say whether they are the same.' };
  },
};

const formatFinding = ({ text, file, lines }: Finding): string =>
  `${file === undefined ? '' : `${file}${lines === undefined ? '' : `:${lines[0]}-${lines[1]}`}\n`}${text}`;

/** Searches items in parallel, and merges findings that say the same about the same place. */
export async function mapReduce(options: MapReduceOptions): Promise<MapReduceResult> {
  const { task, items, mappersPerItem = 1, parallel = 4, maxJudged = 20 } = options;
  assertPatternOptions(options);
  assertWhole('parallel', parallel, 1, 100);
  assertWhole('maxJudged', maxJudged, 0, 1000);
  if (options.mappers.length === 0) throw badOptionError('A search needs a mapper.');
  assertWhole('mappersPerItem', mappersPerItem, 1, options.mappers.length);
  const mappers = await resolveMembers('mapper', options.mappers);
  const judge = options.judge === undefined ? undefined : await resolveMember('judge', options.judge);

  return withPatternRun('map-reduce', options, [...mappers, ...(judge ? [judge] : [])], async (run) => {
    const searches = items.flatMap((item, i) =>
      Array.from({ length: mappersPerItem }, (_, pass) => ({
        item,
        mapper: mappers[(i + pass) % mappers.length] as Member,
      })),
    );
    const mapped: MappedItem[] = [];
    const byItem: (readonly SourcedFinding[])[] = [];
    let count = 0;
    await runPool(searches, parallel, async ({ item, mapper }, index) => {
      const shares = Math.min(parallel, searches.length - index);
      const result = await run.ask(mapper, mapperTask, { task, item }, { about: item.name, shares });
      const base = { item: item.name, by: mapper.name };
      if (result.type !== 'ok')
        mapped[index] = {
          ...base,
          outcome: isStarted(result) ? 'failed' : 'not-started',
          findings: 0,
          why: result.why,
        };
      else if (count + result.value.length > maxFindings) {
        // Too many findings of one mapper must not lose those of the others.
        const why = `Together with earlier searches it found more than ${maxFindings} findings.`;
        mapped[index] = { ...base, outcome: 'failed', findings: 0, why };
      } else {
        count += result.value.length;
        byItem[index] = result.value.map((finding) => ({ ...finding, ...base }));
        mapped[index] = { ...base, outcome: 'done', findings: result.value.length };
      }
    });
    const found = byItem.flat();
    const { kept, doubtful } = dedupeFindings(found);
    const judged = judge ? await judgePairs(run, judge, kept, doubtful.slice(0, maxJudged)) : undefined;
    const findings = judged ? mergeKept(kept, judged.pairs) : kept;
    const position = createPositions(findings);
    const open = doubtful
      .filter((pair) => !judged?.decided.has(pair))
      .map((pair) => ({ ...pair, first: position(kept[pair.first]), second: position(kept[pair.second]) }))
      .filter(({ first, second }) => first !== second);
    const result = { findings, items: mapped, found: found.length, doubtful: open };
    const failed = mapped.filter(({ outcome }) => outcome === 'failed').length;
    const missing = mapped.filter(({ outcome }) => outcome === 'not-started');
    const ending = run.ending();
    const detail = `${findings.length} of ${found.length} findings were kept; ${failed + missing.length} of ${mapped.length} searches failed or were not started.`;
    if (ending) return { ...(await run.finish(ending.stop, ending.why)), ...result };
    if (missing.length > 0 || judged?.isCut) return { ...(await run.finish('budget', detail)), ...result };
    const isFailed = mapped.length > 0 && failed === mapped.length;
    return { ...(await run.finish(isFailed ? 'failed' : 'complete', detail)), ...result };
  });
}

/** Returns the position of the finding that has the sources of a kept one. */
function createPositions(findings: readonly KeptFinding[]): (kept: KeptFinding | undefined) => number {
  const bySource = new Map<number, number>();
  for (const [at, { sources }] of findings.entries()) for (const { index } of sources) bySource.set(index, at);
  return (kept) => bySource.get(kept?.sources[0]?.index ?? -1) ?? -1;
}

type JudgedPairs = {
  readonly pairs: readonly JudgedPair[];
  readonly decided: ReadonlySet<DoubtfulPair>;
  /** Whether the budget or the signal ended it. */
  readonly isCut: boolean;
};

async function judgePairs(
  run: PatternRun,
  judge: Member,
  kept: readonly KeptFinding[],
  pairs: readonly DoubtfulPair[],
): Promise<JudgedPairs> {
  const judged: JudgedPair[] = [];
  const decided = new Set<DoubtfulPair>();
  for (const pair of pairs) {
    const [first, second] = [kept[pair.first], kept[pair.second]];
    if (!first || !second) continue;
    const result = await run.ask(judge, pairTask, { first, second }, { about: `pair ${pair.first}, ${pair.second}` });
    if (result.type === 'stopped') return { pairs: judged, decided, isCut: true };
    if (result.type === 'failed') continue;
    decided.add(pair);
    judged.push({ first: pair.first, second: pair.second, same: result.value.same });
  }
  return { pairs: judged, decided, isCut: false };
}
