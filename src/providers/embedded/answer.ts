// One answer of the embedded model: words as they come, or one call held to its schema.
import { FairleadError, type Chunk, type ModelRequest } from '../../core/index.ts';
import { assemble, type Assembly } from '../wire/assemble.ts';
import { choose, type Act } from './choice.ts';
import type { Loaded } from './engine.ts';
import { grammarOf, keysOf } from './grammar.ts';
import { templateOf, type ChatTemplate, type EmbeddedModel } from './models.ts';
import { askingFor, callLead, contentOf, inputIn, promptOf, type Segment } from './prompt.ts';
import type { RuntimeGrammar, RuntimeSampling, Token } from './runtime.ts';
import { openSequence, type Sequence } from './sequence.ts';

/** A conversation with a loaded model. */
export interface Conversation {
  answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk>;
  /** Resolves when nothing native is at work. */
  settled(): Promise<unknown>;
  dispose(): Promise<void>;
}

/** What is about to be read and written. */
type Plan = {
  readonly act: Act;
  /** How a call begins: given to the model, not written by it. */
  readonly lead: readonly Token[];
  readonly tokens: readonly Token[];
  readonly most: number;
  readonly grammar: RuntimeSampling['grammarEvaluationState'];
  readonly stops: readonly string[];
};

/** Tokens of an answer when no limit is set: more than this takes minutes. */
const usualAnswer = 512;
/** Room that is kept for an answer when no limit is set. */
const leastAnswer = 256;
/** Tokens of a request that are weighed: what is asked for stands at the beginning. */
const weighed = 64;
const mostRemembered = 200;

/** Begins a conversation: its working memory is its own, and lasts from one answer to the next. */
export async function converse(loaded: Loaded, described: EmbeddedModel, threads: number): Promise<Conversation> {
  const { model, llama, runtime } = loaded;
  const template = templateOf(described);
  const main = await openSequence(model, described.contextWindow, threads);
  let scale: Promise<Sequence> | undefined;
  const weights = new Map<string, number>();
  const spoken = new Map<string, readonly Token[]>();
  const grammars = new Map<string, Promise<RuntimeGrammar>>();
  const plain = (text: string): readonly Token[] => model.tokenize(text, false, 'trimLeadingSpace');

  /** What the model wrote itself is read back in its own tokens: it may have split words in another way than we would. */
  const tokensOf = (segments: readonly Segment[]): readonly Token[] => [
    ...(model.tokens.bos === null ? [] : [model.tokens.bos]),
    ...segments.flatMap(({ text, markup }) =>
      markup ? model.tokenize(text, true, 'trimLeadingSpace') : (spoken.get(text) ?? plain(text)),
    ),
  ];

  const decide = (request: ModelRequest, signal: AbortSignal): Promise<Act> =>
    choose(request, async (text, tool) => {
      const first = askingFor(tool);
      const key = JSON.stringify([text, first]);
      const known = weights.get(key);
      if (known !== undefined) return known;
      scale ??= openSequence(model, 512, threads);
      const weight = await (
        await scale
      ).weigh(tokensOf([{ text: first, markup: false }]), plain(text).slice(0, weighed), signal);
      remember(weights, key, weight);
      return weight;
    });

  async function grammarFor(request: ModelRequest, act: Act): Promise<RuntimeSampling['grammarEvaluationState']> {
    const schema = act.type === 'call' ? act.tool.input : request.outputSchema;
    if (!schema) return undefined;
    const text = grammarOf(schema, act.type === 'call' ? described.fills : 'all');
    const grammar = grammars.get(text) ?? llama.createGrammar({ grammar: text });
    remember(grammars, text, grammar);
    return new runtime.LlamaGrammarEvaluationState({ model, grammar: await grammar });
  }

  async function planFor(request: ModelRequest, signal: AbortSignal): Promise<Plan> {
    const asked = tokensOf(promptOf(request, template));
    const leads = new Map(
      request.tools.map(({ name, input }) => [name, plain(callLead(name, keysOf(input)))] as const),
    );
    const most = room(
      asked.length + Math.max(0, ...[...leads.values()].map(({ length }) => length)),
      request,
      described,
    );
    const act = await decide(request, signal);
    const lead = (act.type === 'call' && leads.get(act.tool.name)) || [];
    const grammar = await grammarFor(request, act);
    return { act, lead, tokens: [...asked, ...lead], most, grammar, stops: grammar ? [] : stopsOf(request, template) };
  }

  /** Writes until the model, a stop, the schema or the limit ends it; returns whether it was the limit. */
  async function* write(
    plan: Plan,
    out: Assembly,
    sampling: RuntimeSampling,
    written: Token[],
    signal: AbortSignal,
  ): AsyncGenerator<Chunk, boolean> {
    const { act, stops, most } = plan;
    const say = (piece: string): void =>
      act.type === 'call' ? out.call(0, { tool: act.tool.name, input: piece }) : out.text(piece);
    let text = '';
    let shown = 0;
    let cut = false;
    for await (const token of main.write(plan.tokens.at(-1) ?? 0, sampling, signal)) {
      written.push(token);
      const now = model.detokenize(written).trimStart();
      const stop = firstOf(now, stops);
      text = now.slice(0, stop);
      const safe = text.length - held(text, stops);
      if (safe > shown) {
        say(text.slice(shown, safe));
        shown = safe;
        yield* out.take();
      }
      cut = written.length >= most;
      if (stop !== undefined || (plan.grammar && inputIn(text) !== undefined)) cut = false;
      else if (!cut) continue;
      break;
    }
    say(text.replace(/[\s\uFFFD]+$/, '').slice(shown));
    return cut;
  }

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const plan = await planFor(request, signal);
    const { act, lead, tokens } = plan;
    const cacheRead = await main.read(tokens, signal);
    const out = assemble({ name: 'embedded', model: described.name });
    const written: Token[] = [];
    const cut = yield* write(plan, out, samplingOf(request, plan, written), written, signal);
    const finish = cut ? 'length' : act.type === 'call' ? 'tool-calls' : 'stop';
    out.end({
      finishReason: finish,
      usage: { input: tokens.length, output: written.length, cacheRead },
      model: described.name,
    });
    for (const chunk of out.take()) {
      if (chunk.type === 'end') remember(spoken, contentOf(chunk.message, template), [...lead, ...written]);
      yield chunk;
    }
  }

  return {
    answer,
    settled: async () => Promise.all([main.settled(), (await scale)?.settled()]),
    async dispose() {
      await main.dispose();
      await (await scale)?.dispose();
    },
  };
}

/** How many tokens an answer may have; a request that leaves too few is an error before anything is read. */
function room(tokens: number, { settings }: ModelRequest, { name, contextWindow }: EmbeddedModel): number {
  const wanted = settings.maxOutputTokens ?? usualAnswer;
  const left = contextWindow - 1 - tokens;
  if (left >= Math.min(settings.maxOutputTokens ?? leastAnswer, Math.floor(contextWindow / 4)))
    return Math.min(wanted, left);
  throw new FairleadError(
    'provider/context-too-long',
    `This request has ${tokens} tokens, and ${name} has room for ${contextWindow} together with the answer, so it was not read.`,
    { blame: 'user', hint: 'Compact the conversation, shorten the instructions, or choose a larger model.' },
  );
}

/** Calls and answers to a schema are the likeliest ones; words are kept from going round in circles. */
function samplingOf({ settings }: ModelRequest, { act, grammar }: Plan, written: readonly Token[]): RuntimeSampling {
  const { temperature = 0, topP, seed } = settings;
  return {
    temperature: act.type === 'call' ? 0 : temperature,
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(grammar
      ? { grammarEvaluationState: grammar }
      : { repeatPenalty: { punishTokens: () => written.slice(-64), penalty: 1.1 } }),
  };
}

/** Where an answer is over: where the caller says, and where the model begins to speak for others. */
const stopsOf = ({ settings }: ModelRequest, template: ChatTemplate): readonly string[] =>
  [...(settings.stop ?? []), ...Object.values(template).map(([before]) => before.trim())].filter(Boolean);

function firstOf(text: string, stops: readonly string[]): number | undefined {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return places.length > 0 ? Math.min(...places) : undefined;
}

/** How much of the end must wait: it may become a stop, belong to half a character, or be blank space that ends the answer. */
function held(text: string, stops: readonly string[]): number {
  const begun = stops.map((stop) => {
    for (let length = Math.min(stop.length - 1, text.length); length > 0; length--)
      if (stop.startsWith(text.slice(-length))) return length;
    return 0;
  });
  const rest = text.slice(0, text.length - Math.max(0, ...begun));
  return text.length - rest.replace(/[\s\uFFFD]+$/, '').length;
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > mostRemembered && oldest !== undefined) map.delete(oldest);
}
