// The reviews of a session as a projection of its log: which calls were reviewed, which values a reviewer denied, and how many reviews the run took.
import { isObject, parseFlowReview, type FlowReview, type Json, type NamedView } from '../../core/index.ts';
import { normalizeText } from './normalize-text.ts';

/** The reviews of a session. */
export type ReviewLog = {
  /** The number of reviews of the current run. */
  readonly count: number;
  /** The latest reviews, the newest last. */
  readonly latest: readonly Pick<FlowReview, 'turn' | 'call' | 'key' | 'isAllowed'>[];
  /** What a reviewer denied by a judgement: keys of calls, and normalized values that are not the user's. */
  readonly denied: readonly string[];
};

const maxLatest = 100;
const maxDenied = 2000;

/** The name of the view, and of the annotation that gives a sub-agent the reviews of its parent. */
const viewName = 'flow-reviews';

const initial: ReviewLog = { count: 0, latest: [], denied: [] };

/** The view of the reviews. */
export const reviewView: NamedView<ReviewLog> = {
  name: viewName,
  isInherited: true,
  initial,
  on(log, event) {
    if (event.type === 'run-started') return log.count === 0 ? log : { ...log, count: 0 };
    if (event.type === 'annotation-added' && event.key === viewName) return restore(event.value) ?? log;
    const review = parseFlowReview(event);
    if (!review) return log;
    const { turn, call, key, isAllowed, authorisation, values } = review;
    // A reviewer that gave no judgement may be asked again.
    const isJudged = !isAllowed && authorisation !== undefined;
    const denied = isJudged ? [key, ...values.map(normalizeText)] : [];
    return {
      count: log.count + 1,
      latest: [...log.latest, { turn, call, key, isAllowed }].slice(-maxLatest),
      denied: denied.length > 0 ? [...new Set([...log.denied, ...denied])].slice(-maxDenied) : log.denied,
    };
  },
  serialize: (log) => log,
  restore,
};

function restore(stored: Json): ReviewLog | undefined {
  if (!isObject(stored) || !Array.isArray(stored['denied'])) return undefined;
  const { denied, count } = stored;
  // The calls of an earlier epoch have ended.
  return {
    count: typeof count === 'number' ? count : 0,
    latest: [],
    denied: (denied as readonly unknown[]).filter((each) => typeof each === 'string'),
  };
}

/** Whether a reviewer denied a call or a value. */
export const isDeniedByReview = ({ denied }: ReviewLog, key: string, values: readonly string[]): boolean =>
  denied.includes(key) || values.some((value) => denied.includes(normalizeText(value)));
