// `fairlead models route "<task>"`: what a router would choose for a task and why, without asking any model.
import { estimateTokens, escapeInvisibleLine } from '../../../core/index.ts';
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
import { formatColumns } from '../../../core/format-columns.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { loadRouterCandidates } from '../../../coding-agent/routing/candidates.ts';
import { defaultFrameTokens } from '../../../coding-agent/routing/session-router.ts';
import { readRunHistory } from '../../../coding-agent/routing/run-history.ts';
import { findRouter } from '../../../coding-agent/routing/router-config.ts';

const usage =
  'Usage: fairlead models route "<task>" [--router <name>] [--private] [--context <tokens>] [--budget <dollars>] [--json]';

/** Shows a choice: 0 one was made, 1 none can be, 2 misused. */
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

async function showRoute(task: string, asked: RouteArgs): Promise<number> {
  const settings = readSettings();
  const name = asked.router === 'auto' ? 'auto' : `router:${asked.router.replace(/^router:/, '')}`;
  const router = findRouter(name, settings);
  const isPrivate = asked.private || settings.private;
  const { usdLeft } = asked;
  const entrants = await loadRouterCandidates(router, settings);
  const choice = route(
    entrants.map(({ candidate }) => candidate),
    {
      task,
      context: Math.max(asked.context, defaultFrameTokens) + estimateTokens(task),
      needs: { tools: true, images: false },
      private: isPrivate,
      past: await readRunHistory(settings.dirs),
      now: Date.now(),
      ...(usdLeft === undefined ? {} : { usdLeft }),
    },
    router,
  );
  if (asked.json) print(`${JSON.stringify(toDecisionRecord(name, isPrivate, choice), null, 2)}\n`);
  else print(formatRoute(choice, taskFeatures(task, router.words).reasons, router.weights));
  return choice.chosen ? 0 : 1;
}

function formatRoute(
  choice: RoutingDecision,
  because: readonly string[],
  weights: Readonly<Record<string, number>>,
): string {
  const named = Object.entries(weights).filter(([, weight]) => weight > 0);
  const head = ['model', 'where', 'total', ...named.map(([name, weight]) => `${name} ×${weight}`)];
  const rows = choice.ratings.map((rating) => formatRating(rating, named.length));
  const reasons = choice.ratings.flatMap((rating) =>
    'out' in rating
      ? [`${rating.candidate.name}: ${rating.out}`]
      : [`${rating.candidate.name}:`, ...rating.scores.map(({ scorer, why }) => `  ${scorer.padEnd(8)} ${why}`)],
  );
  const seen = because.length
    ? `Because of ${because.slice(0, 6).map(escapeInvisibleLine).join(', ')}.`
    : 'Nothing in it says that it is hard.';
  return `${formatDecision(choice)}\n${seen}\n\n${formatColumns([head, ...rows])}\n${reasons.join('\n')}\n`;
}

function formatRating(rating: CandidateRating, columnsLeft: number): readonly string[] {
  const { name, local } = rating.candidate;
  const where = local ? 'local' : 'cloud';
  if ('out' in rating) return [name, where, 'out', ...Array.from({ length: columnsLeft }, () => '-')];
  return [name, where, rating.total.toFixed(2), ...rating.scores.map(({ score }) => score.toFixed(2))];
}
