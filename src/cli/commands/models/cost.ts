// `fairlead models --cost`: the cost of a month in the cloud, on a local machine and with both, and when the machine has paid for itself.
import { FairleadError, formatColumns } from '../../../core/index.ts';
import {
  blendedPrice,
  electricityCost,
  estimatePayback,
  findFamily,
  monthlyCost,
  parseModelRef,
  priceOf,
  type ModelInfo,
  type Payback,
} from '../../../providers/index.ts';
import type { Settings } from '../../../coding-agent/settings/index.ts';

/** The options of an estimate, as `parseArgs` expects them. */
export const costOptions = {
  cost: { type: 'string' },
  'local-share': { type: 'string' },
  'output-share': { type: 'string', default: '0.2' },
  against: { type: 'string' },
  price: { type: 'string' },
  kwh: { type: 'string', default: '0.15' },
  watts: { type: 'string', default: '450' },
  hours: { type: 'string', default: '5' },
  hardware: { type: 'string', default: '1500' },
} as const;

/** The usage line of these options. */
export const costUsage: string =
  '       fairlead models --cost [<tokens a month>] [--against <provider/model> | --price <dollars per million>] [--local-share <0 to 1>]\n' +
  '                       [--output-share <0 to 1>] [--kwh <dollars>] [--watts <watts>] [--hours <a day>] [--hardware <dollars>] [--json]';

/** The inputs of an estimate. */
export type CostInputs = {
  readonly tokens: number;
  /** Undefined: the report shows half and four fifths. */
  readonly localShare: number | undefined;
  readonly outputShare: number;
  readonly against: string | undefined;
  readonly usdPerMillion: number | undefined;
  readonly usdPerKwh: number;
  readonly watts: number;
  readonly hoursPerDay: number;
  readonly hardwareUsd: number;
};

type CostValues = { readonly [name in keyof typeof costOptions]?: string | undefined };

const defaultTokens = '2000000';

/** Adds the default number of tokens where `--cost` has no value. */
export const withDefaultTokens = (args: readonly string[]): string[] =>
  args.flatMap((arg, i) => (arg === '--cost' && !/^[^-]/.test(args[i + 1] ?? '') ? [arg, defaultTokens] : [arg]));

/** Parses the options of an estimate; a string is what is wrong. Undefined without `--cost`. */
export function parseCostInputs(values: CostValues): CostInputs | string | undefined {
  if (values.cost === undefined) return undefined;
  const read = (name: keyof typeof costOptions): number | undefined =>
    values[name] === undefined ? undefined : values[name].trim() === '' ? Number.NaN : Number(values[name]);
  for (const name of ['cost', 'price', 'watts', 'hours', 'hardware'] as const)
    if (!((read(name) ?? 1) > 0 && Number.isFinite(read(name) ?? 1)))
      return `--${name} must be a number above 0, not "${values[name]}".`;
  if (!((read('kwh') ?? 0) >= 0)) return `--kwh must be a number from 0 on, not "${values.kwh}".`;
  if ((read('hours') ?? 0) > 24) return `--hours must be at most 24, not "${values.hours}".`;
  for (const name of ['local-share', 'output-share'] as const)
    if (!((read(name) ?? 0) >= 0 && (read(name) ?? 0) <= 1))
      return `--${name} must be from 0 to 1, not "${values[name]}".`;
  return {
    tokens: read('cost') ?? 0,
    localShare: read('local-share'),
    outputShare: read('output-share') ?? 0,
    against: values.against,
    usdPerMillion: read('price'),
    usdPerKwh: read('kwh') ?? 0,
    watts: read('watts') ?? 0,
    hoursPerDay: read('hours') ?? 0,
    hardwareUsd: read('hardware') ?? 0,
  };
}

/** The estimate as `--json` prints it. */
type CostReport = {
  readonly tokensPerMonth: number;
  readonly cloudModel: string | null;
  readonly usdPerMillion: number;
  readonly electricity: { readonly usdPerMonth: number; readonly kwhPerMonth: number; readonly usdPerKwh: number };
  readonly setups: readonly SetupCost[];
  readonly hardware: {
    readonly usd: number;
    /** Null if it never pays for itself. */
    readonly paybackMonths: number | null;
    readonly profits: Payback['profits'];
    readonly tokensForPayback: readonly { readonly months: number; readonly tokensPerMonth: number }[];
  };
};

type SetupCost = {
  readonly setup: 'cloud' | 'local' | 'hybrid';
  readonly localShare: number;
  readonly cloudUsd: number;
  readonly electricityUsd: number;
  readonly usdPerMonth: number;
};

/** Returns the estimate as text, or as JSON. */
export function formatCostReport(inputs: CostInputs, settings: Settings, json: boolean): string {
  const report = createCostReport(inputs, settings);
  return json ? `${JSON.stringify(report, roundForJson, 2)}\n` : formatReport(report, inputs);
}

/** Rounds numbers to three digits after the point. */
const roundForJson = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;

/** Periods after which a user may expect that a machine has paid for itself: 7.5 and 10 months, and its shortest lifespan. */
const paybackTargets = [7.5, 10, 36] as const;

function createCostReport(inputs: CostInputs, settings: Settings): CostReport {
  const { tokens, hardwareUsd, usdPerKwh } = inputs;
  const { model, usdPerMillion } = resolveCloudPrice(inputs, settings);
  const electricityUsd = electricityCost(inputs);
  const toSetup = (setup: SetupCost['setup'], localShare: number): SetupCost => {
    const cloudUsd = monthlyCost({ tokens, usdPerMillion, localShare }).hybrid;
    const usdPerMonth = monthlyCost({ tokens, usdPerMillion, localShare, electricityUsd }).hybrid;
    return { setup, localShare, cloudUsd, electricityUsd: usdPerMonth - cloudUsd, usdPerMonth };
  };
  const shares = inputs.localShare === undefined ? [0.5, 0.8] : [inputs.localShare];
  const { cloud: cloudUsd } = monthlyCost({ tokens, usdPerMillion });
  const payback = estimatePayback({ hardwareUsd, cloudUsd, electricityUsd });
  return {
    tokensPerMonth: tokens,
    cloudModel: model ?? null,
    usdPerMillion,
    electricity: {
      usdPerMonth: electricityUsd,
      kwhPerMonth: electricityCost({ ...inputs, usdPerKwh: 1 }),
      usdPerKwh,
    },
    setups: [toSetup('cloud', 0), toSetup('local', 1), ...shares.map((share) => toSetup('hybrid', share))],
    hardware: {
      usd: hardwareUsd,
      paybackMonths: payback.months ?? null,
      profits: payback.profits,
      tokensForPayback: paybackTargets.map((months) => ({
        months,
        tokensPerMonth: ((hardwareUsd / months + electricityUsd) / usdPerMillion) * 1e6,
      })),
    },
  };
}

/** A cloud model of medium price, if none is named or configured. */
const defaultCloudModel = 'anthropic/claude-sonnet-5';

function resolveCloudPrice(
  { against, usdPerMillion, outputShare }: CostInputs,
  settings: Settings,
): { readonly model: string | undefined; readonly usdPerMillion: number } {
  if (usdPerMillion !== undefined) return { model: undefined, usdPerMillion };
  const find = (name: string): number | undefined => {
    const { provider, model } = parseModelRef(settings.modelNames[name] ?? name);
    const price = priceOf(findFamily(provider)?.name ?? provider, model);
    return price && price.output > 0 ? blendedPrice(price, outputShare) : undefined;
  };
  const configured = settings.model?.includes('/') ? settings.model : undefined;
  for (const name of against === undefined ? [configured, defaultCloudModel] : [against]) {
    const found = name === undefined ? undefined : find(name);
    if (found !== undefined) return { model: name, usdPerMillion: found };
  }
  throw new FairleadError('cli/no-price', `The price of ${against} is unknown, or it is free.`, {
    blame: 'user',
    hint: 'Give the price per million tokens: --price 3.6',
  });
}

const formatUsd = (usd: number): string =>
  `${usd < 0 ? '-' : ''}$${Math.abs(usd).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
const formatTokens = (tokens: number): string =>
  tokens >= 1e6 ? `${Number((tokens / 1e6).toPrecision(3))}M` : Math.round(tokens).toLocaleString('en-US');
const formatPercent = (share: number): string => `${Number((share * 100).toFixed(1))}%`;

function formatReport(report: CostReport, { outputShare, watts, hoursPerDay }: CostInputs): string {
  const { electricity, hardware, setups } = report;
  const price = `$${Number(report.usdPerMillion.toFixed(4))} per million tokens`;
  const table = formatColumns([
    ['setup', 'tokens', 'electricity', 'a month'],
    ...setups.map(({ setup, localShare, cloudUsd, electricityUsd, usdPerMonth }) => [
      setup === 'hybrid' ? `hybrid, ${formatPercent(localShare)} local` : setup,
      formatUsd(cloudUsd),
      formatUsd(electricityUsd),
      formatUsd(usdPerMonth),
    ]),
  ]);
  const cloud = report.cloudModel
    ? `${report.cloudModel}, ${price} (${formatPercent(outputShare)} output)`
    : `${price}, as given`;
  return [
    `${formatTokens(report.tokensPerMonth)} tokens a month. Cloud: ${cloud}.`,
    `Electricity: ${watts} W for ${hoursPerDay} h a day, ${Number(electricity.kwhPerMonth.toFixed(1))} kWh at $${electricity.usdPerKwh}.`,
    '',
    table,
    `A machine for ${formatUsd(hardware.usd)} (an RTX 4090 is about $1,500) instead of the cloud:`,
    ...formatPayback(hardware),
    ...hardware.tokensForPayback.map(
      ({ months, tokensPerMonth }) =>
        `  To pay for itself in ${months === 36 ? '3 years' : `${months} months`}: ${formatTokens(tokensPerMonth)} tokens a month.`,
    ),
    '',
    'The estimate assumes that the local model can do the work. Change the inputs: --help.',
    '',
  ].join('\n');
}

const formatPayback = ({ paybackMonths: months, profits }: CostReport['hardware']): readonly string[] => [
  months === null
    ? '  Never pays for itself: the cloud costs less than the electricity.'
    : `  Pays for itself in ${Number(months.toFixed(1))} months${months > 60 ? ', longer than it lasts' : ''}.`,
  ...profits.map(
    ({ years, usd }) => `  After ${years} years: ${usd >= 0 ? `${formatUsd(usd)} profit` : `${formatUsd(-usd)} loss`}.`,
  ),
];

/** The monthly cost of a listed model: electricity if it is local; `hybrid` if a local model takes a share. Undefined if the price is unknown. */
export function listedModelCost(
  { price }: ModelInfo,
  inputs: CostInputs,
): { readonly usdPerMonth: number; readonly hybridUsdPerMonth?: number } | undefined {
  if (!price) return undefined;
  const electricityUsd = electricityCost(inputs);
  if (price.input === 0 && price.output === 0) return { usdPerMonth: electricityUsd };
  const usdPerMillion = blendedPrice(price, inputs.outputShare);
  const { tokens, localShare = 0.5 } = inputs;
  const { cloud, hybrid } = monthlyCost({ tokens, usdPerMillion, localShare, electricityUsd });
  return { usdPerMonth: cloud, hybridUsdPerMonth: hybrid };
}

/** The cells of a listed model. */
export function monthlyCostCells(model: ModelInfo, inputs: CostInputs): readonly string[] {
  const cost = listedModelCost(model, inputs);
  if (!cost) return ['?', '?'];
  if (cost.hybridUsdPerMonth === undefined) return [`${formatUsd(cost.usdPerMonth)} electricity`, '-'];
  return [formatUsd(cost.usdPerMonth), formatUsd(cost.hybridUsdPerMonth)];
}
