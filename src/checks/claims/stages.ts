// The stages of a verification: exact checks, judges that read evidence, independent answers, and chain of verification.
import { errorMessage, FairleadError, type Event } from '../../core/index.ts';
import { createPassageSelector, type CheckedVote, type JudgeTask } from '../judges/index.ts';
import type { Claim, ClaimVerdict, Evidence, EvidenceSearch, Verifier, VerifyContext, VerifyModel } from '../types.ts';
import { collectVotes, decideClaim, findContext, runLimited } from './ask-judges.ts';
import { scoreSupport } from '../scorer/index.ts';
import { defaultVerifiers, runVerifiers } from '../verifiers/index.ts';
import {
  askIndependently,
  planQuestions,
  voteByChain,
  voteByOwnAnswers,
  type IndependentAnswer,
} from './independent.ts';
import type { Meter, VerifyBudget } from './meter.ts';
import { decidingText } from './render.ts';
import type { VerificationReport, VerifyProgress } from './report.ts';

/** The options of `verifyAnswer`. */
export type VerifyAnswerOptions = {
  /** The question. Without it, every claim of the answer must be supported. */
  readonly question?: string;
  readonly answer: string;
  /** The model that wrote the answer. It does not judge, nor does a model of its family. */
  readonly author?: Pick<VerifyModel, 'name' | 'family'>;
  /** Exact verifiers, in the order in which they are asked; absent: `defaultVerifiers`. */
  readonly verifiers?: readonly Verifier[];
  /** Texts that may decide claims. */
  readonly evidence?: readonly Evidence[];
  /** Finds more evidence for a claim. */
  readonly search?: EvidenceSearch;
  readonly judges?: readonly VerifyModel[];
  /** The number of model families that must agree; 2 by default. */
  readonly quorum?: number;
  /** Whether judges also answer the question without sight of the answer, for claims that no evidence decides; by default only if there is neither evidence nor a search: with documents, what models remember supports nothing. */
  readonly independent?: boolean;
  /** Returns the answers that models give to the question without sight of the answer, so that several verifications share them. */
  readonly independentAnswers?: () => Promise<readonly IndependentAnswer[]>;
  /** Whether claims that are still open are tested by questions about them. */
  readonly chain?: boolean;
  readonly budget?: VerifyBudget;
  /** The meter of a larger verification that this one is a part of; replaces `budget`. */
  readonly meter?: Meter;
  /** Reads evidence again before the verdict counts; undefined if it is gone. */
  readonly refresh?: (evidence: Evidence, signal: AbortSignal) => Promise<Evidence | undefined>;
  /** The statistical scorer: a signal in the report that decides nothing; absent: `scoreSupport`. */
  readonly score?: (claim: string, evidence: string) => number | undefined;
  /** Refuses a verified answer: returns why it is not accepted. Used for a target error rate. */
  readonly accept?: (report: VerificationReport) => string | undefined | Promise<string | undefined>;
  readonly events?: readonly Event[];
  readonly fileExists?: VerifyContext['fileExists'];
  readonly runCommand?: VerifyContext['runCommand'];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifyProgress) => void;
};

const maxClaimLength = 4000;
const passagesPerClaim = 5;

/** A claim during its verification. */
export type ClaimState = {
  readonly claim: Claim;
  evidence: readonly Evidence[];
  verdict?: ClaimVerdict | undefined;
  votes: readonly CheckedVote[];
  score?: number | undefined;
  /** The passage with the best score. */
  nearest?: Evidence;
  /** An exact verifier refused the claim: judges may contradict it, but not support it. */
  refused?: true;
  /** Why there is no verdict, so far. */
  why: string;
  reason: 'no-evidence' | 'no-quorum' | 'disagreement' | 'cannot-tell' | 'budget';
};

/** Reports the progress of a verification. */
export const reportProgress = (
  { onProgress }: Pick<VerifyAnswerOptions, 'onProgress'>,
  stage: VerifyProgress['stage'],
  text: string,
  done: number,
  total: number,
): void => onProgress?.({ stage, text, done, total });

/** Runs the stages until every claim has a verdict or no stage is left. */
export async function runStages(
  states: readonly ClaimState[],
  options: VerifyAnswerOptions,
  judges: readonly VerifyModel[],
  quorum: number,
  meter: Meter,
): Promise<void> {
  await checkExactly(states, options, meter.signal);
  const open = (): readonly ClaimState[] => states.filter(({ verdict }) => verdict === undefined);
  const isBlocked = ({ votes }: ClaimState): boolean => votes.some(({ vote }) => vote === 'contradicted');
  const families = new Set(judges.map(({ family }) => family)).size;
  const hasQuorum = families >= quorum;
  if (!hasQuorum) {
    const why = `No quorum: ${quorum} model families other than the author's must vote, ${families} can.`;
    for (const state of open()) if (!state.refused) Object.assign(state, { why, reason: 'no-quorum' });
  }
  const disputable = states.filter(isDisputable);
  const asked = [...disputable, ...(hasQuorum ? open() : [])];
  if (judges.length === 0 || asked.length === 0) return;
  const claims = states.map(({ claim }) => claim);
  const select = createPassageSelector([...new Set(asked.flatMap(({ evidence }) => evidence))]);
  const tasks = asked.flatMap((state): readonly JudgeTask[] => {
    const { claim } = state;
    const passages = (options.search ? createPassageSelector(state.evidence) : select)(claim, passagesPerClaim);
    const context = findContext(claims, claims.indexOf(claim));
    if (passages.length === 0 || claim.text.length > maxClaimLength) return [];
    const countsChosen = isAboutOutput(claim.text) && isAboutOutput(options.question ?? '');
    return [{ claim, passages, countsChosen, ...(context === undefined ? {} : { context }) }];
  });
  const apply = (votes: ReadonlyMap<string, readonly CheckedVote[]>, formatWhy?: (why: string) => string): void => {
    for (const state of open()) {
      const own = votes.get(state.claim.id);
      if (!own) continue;
      const judged = decideClaim(own, quorum, formatWhy);
      state.votes = [...state.votes, ...judged.votes];
      if ('verdict' in judged) {
        if (!state.refused || judged.verdict.type === 'contradicted') state.verdict = judged.verdict;
      }
      // What prevented a quorum once is the reason to the end.
      else if (state.reason !== 'no-quorum' && !state.refused)
        Object.assign(state, { why: judged.undecided.why, reason: judged.undecided.reason });
    }
  };
  const onRequest =
    (stage: VerifyProgress['stage'], text: string) =>
    (done: number, total: number): void =>
      reportProgress(options, stage, text, done, total);
  const votes = await collectVotes(
    judges.map((judge) => ({ judge, tasks })),
    meter,
    onRequest('judges', 'judges read the evidence'),
  );
  if (hasQuorum) apply(votes);
  for (const state of disputable) dispute(state, votes.get(state.claim.id) ?? []);
  if (!hasQuorum) return;
  const undecided = (): readonly Claim[] =>
    open()
      .filter((state) => !isBlocked(state) && !state.refused && state.claim.kind !== 'code')
      .filter(({ claim }) => claim.text.length <= maxClaimLength)
      .map(({ claim }) => claim);
  const byModels = (why: string): string => `Agreed by other models, no document: ${why}.`;
  const { question } = options;
  const hasDocuments =
    options.search !== undefined || options.evidence?.some((each) => each.isChosen !== true) === true;
  if (question !== undefined && (options.independent ?? !hasDocuments) && undecided().length > 0) {
    reportProgress(options, 'independent', 'other models answer the question', 0, judges.length);
    const asked = await (options.independentAnswers?.() ?? askIndependently(question, judges, meter));
    const answers = asked.filter(({ model }) => judges.some(({ name }) => name === model.name));
    const progress = onRequest('independent', 'other models compare their own answers');
    apply(await voteByOwnAnswers(question, undecided(), answers, meter, progress), byModels);
  }
  const [planner] = judges;
  const countsMemory = options.independent === true || !hasDocuments;
  if (options.chain === true && countsMemory && planner && undecided().length > 0) {
    reportProgress(options, 'chain', 'questions about the claims', 0, undecided().length);
    const questions = await planQuestions(planner, undecided(), meter);
    apply(
      await voteByChain(undecided(), questions, judges, meter, onRequest('chain', 'questions about the claims')),
      byModels,
    );
  }
}

/** Whether a claim is supported by words of a source: a judge may know a place that contradicts it. What was computed is certain. */
const isDisputable = ({ verdict }: ClaimState): boolean =>
  verdict?.type === 'supported' && verdict.evidence.some(({ source }) => source.type !== 'computed');

/** Takes the support of an exact verifier back if a judge quotes words that contradict the claim, other than those that support it. */
function dispute(state: ClaimState, votes: readonly CheckedVote[]): void {
  const { verdict } = state;
  if (verdict?.type !== 'supported') return;
  state.votes = votes;
  const against = votes.find(
    ({ vote, evidence }) =>
      vote === 'contradicted' && evidence && !verdict.evidence.some((own) => isWithin(evidence, own)),
  );
  if (!against?.evidence) return;
  const quoted = decidingText(against.evidence).replaceAll(/\s+/g, ' ').slice(0, 200);
  state.verdict = undefined;
  state.reason = 'disagreement';
  state.why = `A source has the statement, but ${against.judge} quotes words that contradict it: "${quoted}".`;
}

const isWithin = (inner: Evidence, outer: Evidence): boolean =>
  JSON.stringify(inner.source) === JSON.stringify(outer.source) &&
  (outer.span === undefined ||
    (inner.span !== undefined && inner.span.start >= outer.span.start && inner.span.end <= outer.span.end + 1));

/** Whether a text is about what a program printed. */
const isAboutOutput = (text: string): boolean =>
  /\b(?:commands?|outputs?|prints?|printed|exit codes?|tests?|builds?|compilers?|linters?)\b/i.test(text);

const scoreLocally = (claim: string, evidence: string): number => scoreSupport(claim, evidence).probability;

/** How long the exact checks run before other work gets its turn. */
const turnMs = 10;
/** The maximum time of the exact checks of one answer. */
const maxExactMs = 120_000;

/** Returns a function that lets timers, signals and other requests run if that is due, and throws if the checks take too long. */
function createPauses(): () => Promise<void> {
  const start = performance.now();
  let last = start;
  return async () => {
    if (performance.now() - last < turnMs) return;
    await new Promise((wake) => setImmediate(wake));
    last = performance.now();
    if (last - start > maxExactMs)
      throw new FairleadError('verify/budget', `The exact checks take longer than ${maxExactMs / 1000} s.`, {
        blame: 'user',
        hint: 'Verify a shorter answer, or with fewer documents.',
      });
  };
}

/** The exact stage. The evidence of a claim is the given one and what the search finds for it. */
async function checkExactly(
  states: readonly ClaimState[],
  options: VerifyAnswerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { search, evidence = [], verifiers = defaultVerifiers, score = scoreLocally } = options;
  let done = 0;
  const pause = createPauses();
  await runLimited(
    states.map((state) => async () => {
      await pause();
      signal.throwIfAborted();
      const { claim } = state;
      const found = search && claim.kind !== 'code' ? await searchSafely(search, claim, signal, state) : [];
      state.evidence = found.length === 0 ? evidence : [...found, ...evidence];
      const context: VerifyContext = {
        answer: options.answer,
        evidence: state.evidence,
        signal,
        ...(options.question === undefined ? {} : { question: options.question }),
        ...(options.events ? { events: options.events } : {}),
        ...(options.fileExists ? { fileExists: options.fileExists } : {}),
        ...(options.runCommand ? { runCommand: options.runCommand } : {}),
      };
      const { verdict, problems } = await runVerifiers(verifiers, claim, context);
      if (verdict?.type === 'unverifiable') Object.assign(state, { refused: true, why: verdict.why });
      else state.verdict = verdict;
      if (problems.length > 0 && !verdict) state.why = problems.join(' ');
      if (claim.kind !== 'code') findNearest(state, score);
      done += 1;
      reportProgress(options, 'exact', 'exact checks', done, states.length);
    }),
  );
}

/** Scores the first passages, and keeps the best one. */
function findNearest(state: ClaimState, score: (claim: string, evidence: string) => number | undefined): void {
  for (const passage of state.evidence.slice(0, passagesPerClaim)) {
    const scored = score(state.claim.text, passage.text.slice(0, maxClaimLength));
    if (scored === undefined || (state.score !== undefined && scored <= state.score)) continue;
    state.score = scored;
    state.nearest = passage;
  }
}

async function searchSafely(
  search: EvidenceSearch,
  claim: Claim,
  signal: AbortSignal,
  state: ClaimState,
): Promise<readonly Evidence[]> {
  try {
    return await search(claim.text.slice(0, 1000), { limit: passagesPerClaim, signal });
  } catch (error) {
    signal.throwIfAborted();
    state.why = `The evidence could not be searched: ${errorMessage(error)}`;
    return [];
  }
}

/** Reads the evidence of each verdict again: a claim whose evidence is gone or changed is not verifiable. */
export async function refreshEvidence(
  states: readonly ClaimState[],
  { refresh }: VerifyAnswerOptions,
  signal: AbortSignal,
): Promise<void> {
  if (!refresh) return;
  for (const state of states) {
    const { verdict } = state;
    if (!verdict || verdict.type === 'unverifiable') continue;
    for (const evidence of verdict.evidence) {
      if (evidence.source.type === 'computed' || evidence.source.type === 'model') continue;
      const current = await refresh(evidence, signal).catch(() => undefined);
      if (current?.text === evidence.text) continue;
      signal.throwIfAborted();
      Object.assign(state, {
        verdict: undefined,
        why: 'The evidence changed or disappeared during the verification.',
        reason: 'no-evidence',
      });
      break;
    }
  }
}
