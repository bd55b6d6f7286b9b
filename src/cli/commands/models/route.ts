// `fairlead models route "<task>"`: shows which model a router would select for a task and why, without calling a model.
import { estimateTokens, escapeInvisibleLine, formatColumns } from '../../../core/index.ts';
import {
  formatDecision,
  toDecisionRecord,
  route,
  taskFeatures,
  type RoutingDecision,
  type CandidateRating,
} from '../../../providers/routing/index.ts';
import { withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  loadRouterCandidates,
  defaultFrameTokens,
  readRunHistory,
  findRouter,
} from '../../../coding-agent/routing/index.ts';

const usage =
  'Usage: fairlead models route "<task>" [--router <name>] [--private] [--context <tokens>] [--budget <dollars>] [--json]';

/** Shows a routing decision; exit code 0 a model was selected, 1 none fits, 2 invalid arguments. */
export async function routeCommand(args: readonly string[]): Promise<number> {
  const options = {
    router: { type: 'string', default: 'auto' },
    private: { type: 'boolean', default: false },
    context: { type: 'string', default: '0' },
    budget: { type: 'string' },
    json: { type: 'boolean', default: false },
  } as const;
  return withOptions({ usage, options, allowPositionals: true }, async (values, positionals) => {
    const task = positionals.join(' ').trim();
    const [context, usdLeft] = [
      Number(values.context),
      values.budget === undefined ? undefined : Number(values.budget),
    ];
    if (task === '' || !(context >= 0) || (usdLeft !== undefined && !(usdLeft >= 0)))
      return (printErr(`${usage}\n`), 2);
    return await showRoute(task, { ...values, context, usdLeft });
  })(args);
}

type RouteArgs = {
  readonly router: string;
  readonly private: boolean;
  readonly context: number;
  readonly usdLeft: number | undefined;
  readonly json: boolean;
};

async function showRoute(task: string, args: RouteArgs): Promise<number> {
  const settings = readSettings();
  const name = args.router === 'auto' ? 'auto' : `router:${args.router.replace(/^router:/, '')}`;
  const router = findRouter(name, settings);
  const isPrivate = args.private || settings.private;
  const { usdLeft } = args;
  const candidates = await loadRouterCandidates(router, settings);
  const decision = route(
    candidates.map(({ candidate }) => candidate),
    {
      task,
      context: Math.max(args.context, defaultFrameTokens) + estimateTokens(task),
      needs: { tools: true, images: false },
      private: isPrivate,
      past: await readRunHistory(settings.dirs),
      now: Date.now(),
      ...(usdLeft === undefined ? {} : { usdLeft }),
    },
    router,
  );
  if (args.json) print(`${JSON.stringify(toDecisionRecord(name, isPrivate, decision), null, 2)}\n`);
  else print(formatRoute(decision, taskFeatures(task, router.words).reasons, router.weights));
  return decision.chosen ? 0 : 1;
}

function formatRoute(
  decision: RoutingDecision,
  taskReasons: readonly string[],
  weights: Readonly<Record<string, number>>,
): string {
  const active = Object.entries(weights).filter(([, weight]) => weight > 0);
  const head = ['model', 'where', 'total', ...active.map(([name, weight]) => `${name} ×${weight}`)];
  const rows = decision.ratings.map((rating) => formatRating(rating, active.length));
  const reasons = decision.ratings.flatMap((rating) =>
    'out' in rating
      ? [`${rating.candidate.name}: ${rating.out}`]
      : [`${rating.candidate.name}:`, ...rating.scores.map(({ scorer, why }) => `  ${scorer.padEnd(8)} ${why}`)],
  );
  const difficulty = taskReasons.length
    ? `Because of ${taskReasons.slice(0, 6).map(escapeInvisibleLine).join(', ')}.`
    : 'Nothing in the task indicates that it is hard.';
  return `${formatDecision(decision)}\n${difficulty}\n\n${formatColumns([head, ...rows])}\n${reasons.join('\n')}\n`;
}

function formatRating(rating: CandidateRating, scoreColumns: number): readonly string[] {
  const { name, local } = rating.candidate;
  const where = local ? 'local' : 'cloud';
  if ('out' in rating) return [name, where, 'out', ...Array.from({ length: scoreColumns }, () => '-')];
  return [name, where, rating.total.toFixed(2), ...rating.scores.map(({ score }) => score.toFixed(2))];
}
