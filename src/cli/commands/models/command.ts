// The `models` command: lists providers and models with their capabilities, prices and monthly costs.
import { parseArgs } from 'node:util';
import { FairleadError, formatColumns } from '../../../core/index.ts';
import { blendedPrice, discover, listModels, monthlyCost, type ModelInfo } from '../../../providers/index.ts';
import type { Command } from '../../args/command.ts';
import { formatFoundReason } from '../../../coding-agent/models/index.ts';
import { print, printErr } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';

const usage =
  'Usage: fairlead models [<provider>] [--url <address>] [--tools] [--cost <tokens a month>] [--local-share <0 to 1>] [--json]\n' +
  '       fairlead models route "<task>"        show which model a router would select for a task, and why\n' +
  '       fairlead models savings [<session>]   show how much routing has saved';

type ModelsArgs = {
  readonly provider: string | undefined;
  readonly url: string | undefined;
  readonly tools: boolean;
  readonly json: boolean;
  readonly tokens: number | undefined;
  readonly localShare: number;
};

/** Lists the models of a provider, or the providers of this machine; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb, ...rest] = args;
  if (verb === 'route') return (await import('./route.ts')).routeCommand(rest);
  if (verb === 'savings') return (await import('./savings.ts')).savingsCommand(rest);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
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
    cost: { type: 'string' },
    'local-share': { type: 'string', default: '0.5' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [provider, more] = positionals;
    if (more !== undefined) return `Only one provider can be given; unexpected: "${more}".`;
    const tokens = values.cost === undefined ? undefined : Number(values.cost);
    if (tokens !== undefined && !(tokens > 0)) return `--cost must be a number above 0, not "${values.cost}".`;
    const localShare = Number(values['local-share']);
    if (!(localShare >= 0 && localShare <= 1))
      return `--local-share must be from 0 to 1, not "${values['local-share']}".`;
    return { provider, url: values.url, tools: values.tools, json: values.json, tokens, localShare };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function formatDiscovered({ json }: ModelsArgs): Promise<string> {
  const all = await discover({ env: readSettings().env });
  if (json) return `${JSON.stringify(all, null, 2)}\n`;
  const rows = all.map((each) => [each.provider, formatFoundReason(each)]);
  return `${formatColumns([['provider', 'found by'], ...rows])}\nfairlead models <provider> lists its models.\n`;
}

async function formatModelList(
  provider: string,
  { url, tools, json, tokens, localShare }: ModelsArgs,
): Promise<string> {
  const { env } = readSettings();
  const all = await listModels({ provider, ...(url === undefined ? {} : { baseUrl: url }) }, { env });
  const models = tools ? all.filter((model) => model.tools === true) : all;
  if (json) return `${JSON.stringify(models, null, 2)}\n`;
  if (models.length === 0) return `${provider} lists no ${tools ? 'models that can call tools' : 'models'}.\n`;
  const costColumns = tokens === undefined ? [] : ['a month', 'hybrid'];
  const head = ['model', 'tools', 'images', 'reasoning', 'window', 'loaded', '$ in/out per million', ...costColumns];
  const rows = models.map((model) => [...modelRow(model), ...monthlyCostCells(model, tokens, localShare)]);
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

function monthlyCostCells({ price }: ModelInfo, tokens: number | undefined, localShare: number): readonly string[] {
  if (tokens === undefined) return [];
  if (!price) return ['?', '?'];
  const { cloud, hybrid } = monthlyCost({ tokens, usdPerMillion: blendedPrice(price), localShare });
  return [`$${cloud.toFixed(2)}`, `$${hybrid.toFixed(2)}`];
}
