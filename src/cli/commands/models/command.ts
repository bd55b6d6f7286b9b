// The `models` command: lists providers and models with their capabilities, prices and monthly costs.
import { parseArgs } from 'node:util';
import { FairleadError, formatColumns } from '../../../core/index.ts';
import { discover, listModels, type ModelInfo } from '../../../providers/index.ts';
import type { Command } from '../../args/command.ts';
import { formatFoundReason } from '../../../coding-agent/models/index.ts';
import { print, printErr, printUsage } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  costOptions,
  costUsage,
  formatCostReport,
  listedModelCost,
  monthlyCostCells,
  parseCostInputs,
  withDefaultTokens,
  type CostInputs,
} from './cost.ts';

const usage =
  'Usage: fairlead models [<provider>] [--url <address>] [--tools] [--cost [<tokens a month>]] [--json]\n' +
  `${costUsage}\n` +
  '       fairlead models route "<task>"        show which model a router would select for a task, and why\n' +
  '       fairlead models savings [<session>]   show how much routing has saved';

type ModelsArgs = {
  readonly provider: string | undefined;
  readonly url: string | undefined;
  readonly tools: boolean;
  readonly json: boolean;
  /** The inputs of the cost estimate; absent without `--cost`. */
  readonly cost: CostInputs | undefined;
};

/** Lists the models of a provider, or the providers of this machine; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb, ...rest] = args;
  if (verb === 'route') return (await import('./route.ts')).routeCommand(rest);
  if (verb === 'savings') return (await import('./savings.ts')).savingsCommand(rest);
  if (args.includes('--help') || args.includes('-h')) {
    printUsage(usage);
    return 0;
  }
  const parsed = parseModelsArgs(args);
  if (typeof parsed === 'string') {
    printErr(`${parsed}\n${usage}\n`);
    return 2;
  }
  try {
    print(
      parsed.provider === undefined ? await formatDiscovered(parsed) : await formatModelList(parsed.provider, parsed),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${error.message}${error.hint ? ` ${error.hint}` : ''}\n`);
    return 1;
  }
};

function parseModelsArgs(args: readonly string[]): ModelsArgs | string {
  const options = {
    url: { type: 'string' },
    tools: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    ...costOptions,
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: withDefaultTokens(args), options, allowPositionals: true });
    const [provider, more] = positionals;
    if (more !== undefined) return `Only one provider can be given; unexpected: "${more}".`;
    const cost = parseCostInputs(values);
    if (typeof cost === 'string') return cost;
    return { provider, url: values.url, tools: values.tools, json: values.json, cost };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function formatDiscovered({ json, cost }: ModelsArgs): Promise<string> {
  if (cost) return formatCostReport(cost, readSettings(), json);
  const all = await discover({ env: readSettings().env });
  if (json) return `${JSON.stringify(all, null, 2)}\n`;
  const rows = all.map((each) => [each.provider, formatFoundReason(each)]);
  return `${formatColumns([['provider', 'found by'], ...rows])}\nfairlead models <provider> lists its models.\n`;
}

async function formatModelList(provider: string, { url, tools, json, cost }: ModelsArgs): Promise<string> {
  const { env } = readSettings();
  const all = await listModels({ provider, ...(url === undefined ? {} : { baseUrl: url }) }, { env });
  const models = tools ? all.filter((model) => model.tools === true) : all;
  if (json)
    return `${JSON.stringify(cost ? models.map((model) => ({ ...model, ...listedModelCost(model, cost) })) : models, null, 2)}\n`;
  if (models.length === 0) return `${provider} lists no ${tools ? 'models that can call tools' : 'models'}.\n`;
  const costColumns = cost ? ['a month', 'hybrid'] : [];
  const head = ['model', 'tools', 'images', 'reasoning', 'window', 'loaded', '$ in/out per million', ...costColumns];
  const rows = models.map((model) => [...modelRow(model), ...(cost ? monthlyCostCells(model, cost) : [])]);
  return formatColumns([head, ...rows]);
}

const formatYesNo = (value: boolean | 'unknown' | undefined): string =>
  value === undefined || value === 'unknown' ? '?' : value ? 'yes' : 'no';

const modelRow = (model: ModelInfo): readonly string[] => [
  model.id,
  formatYesNo(model.tools),
  formatYesNo(model.images),
  formatYesNo(model.reasoning),
  model.contextWindow === undefined ? '?' : String(model.contextWindow),
  formatYesNo(model.loaded),
  model.price ? `${model.price.input}/${model.price.output}` : '?',
];
