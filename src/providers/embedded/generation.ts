// Generates an answer of the embedded model: streamed text, or one call that follows its schema.
import {
  FairleadError,
  trimEndChars,
  whitespaceChars,
  type Chunk,
  type ModelRequest,
  maxOf,
  minOf,
} from '../../core/index.ts';
import { createResponseAssembler, type ResponseAssembler } from '../http/response-assembler.ts';
import { chooseAction, type ResponseAction } from './choose-tool.ts';
import type { LoadedModel } from './model-pool.ts';
import { limitToWords, schemaToGrammar, expectedKeys } from './grammar.ts';
import { resolveTemplate, type ChatTemplate, type EmbeddedModel } from './models.ts';
import {
  toolRequestPrefix,
  toolCallPrefix,
  renderMessage,
  lastUserRequest,
  parseCallInput,
  renderPrompt,
  type PromptSegment,
} from './prompt.ts';
import type { RuntimeGrammar, RuntimeSampling, Token } from './runtime.ts';
import { createTokenSequence, type TokenSequence } from './sequence.ts';

/** A conversation with a loaded model. */
export interface EmbeddedConversation {
  generate(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk>;
  /** Resolves when no native work is active. */
  whenIdle(): Promise<unknown>;
  dispose(): Promise<void>;
}

/** The prompt tokens and the output format of an answer. */
type GenerationPlan = {
  readonly action: ResponseAction;
  /** The start of a call, which is part of the prompt and not generated. */
  readonly prefix: readonly Token[];
  readonly tokens: readonly Token[];
  readonly maxTokens: number;
  readonly grammar: RuntimeSampling['grammarEvaluationState'];
  readonly stopSequences: readonly string[];
};

/** The default max tokens of an answer: more would take minutes. */
const defaultOutputTokens = 512;
/** Tokens reserved for an answer if no limit is set. */
const minOutputTokens = 256;
/** The max tokens of a request that are scored: its start states the task. */
const maxScoredTokens = 64;
const maxCacheEntries = 200;

/** Starts a conversation with its own context, which is kept between answers. */
export async function createEmbeddedConversation(
  loaded: LoadedModel,
  described: EmbeddedModel,
  threads: number,
): Promise<EmbeddedConversation> {
  const { model, llama, runtime } = loaded;
  const template = resolveTemplate(described);
  const main = await createTokenSequence(model, described.contextWindow, threads);
  let scale: Promise<TokenSequence> | undefined;
  const weights = new Map<string, number>();
  const generatedTokens = new Map<string, readonly Token[]>();
  const grammars = new Map<string, Promise<RuntimeGrammar>>();
  const plain = (text: string): readonly Token[] => model.tokenize(text, false, 'trimLeadingSpace');

  /** Generated text is sent back in its original tokens, because the tokenizer may split it in another way. */
  const tokensOf = (segments: readonly PromptSegment[]): readonly Token[] => [
    ...(model.tokens.bos === null ? [] : [model.tokens.bos]),
    ...segments.flatMap(({ text, markup }) =>
      markup ? model.tokenize(text, true, 'trimLeadingSpace') : (generatedTokens.get(text) ?? plain(text)),
    ),
  ];

  const decide = (request: ModelRequest, signal: AbortSignal): Promise<ResponseAction> =>
    chooseAction(
      request,
      async (text, tool) => {
        const first = toolRequestPrefix(tool);
        const key = JSON.stringify([text, first]);
        const known = weights.get(key);
        if (known !== undefined) return known;
        scale ??= createTokenSequence(model, 512, threads);
        const weight = await (
          await scale
        ).logProbability(tokensOf([{ text: first, markup: false }]), plain(text).slice(0, maxScoredTokens), signal);
        setBounded(weights, key, weight);
        return weight;
      },
      described.maxCallsPerMessage,
    );

  async function grammarFor(
    request: ModelRequest,
    act: ResponseAction,
  ): Promise<RuntimeSampling['grammarEvaluationState']> {
    const input = act.type === 'call' ? act.tool.input : undefined;
    const schema =
      input && described.copiesValues
        ? limitToWords(input, lastUserRequest(request).text)
        : (input ?? request.outputSchema);
    if (!schema) return undefined;
    const text = schemaToGrammar(schema, act.type === 'call' ? described.propertyFill : 'all');
    const grammar = grammars.get(text) ?? llama.createGrammar({ grammar: text });
    setBounded(grammars, text, grammar);
    return new runtime.LlamaGrammarEvaluationState({ model, grammar: await grammar });
  }

  async function planFor(request: ModelRequest, signal: AbortSignal): Promise<GenerationPlan> {
    const asked = tokensOf(renderPrompt(request, template));
    const leads = new Map(
      request.tools.map(({ name, input }) => [name, plain(toolCallPrefix(name, expectedKeys(input)))] as const),
    );
    const most = outputTokenBudget(
      asked.length +
        maxOf(
          [...leads.values()].map(({ length }) => length),
          0,
        ),
      request,
      described,
    );
    const act = await decide(request, signal);
    const lead = (act.type === 'call' && leads.get(act.tool.name)) || [];
    const grammar = await grammarFor(request, act);
    return {
      action: act,
      prefix: lead,
      tokens: [...asked, ...lead],
      maxTokens: most,
      grammar,
      stopSequences: grammar ? [] : stopSequencesFor(request, template),
    };
  }

  /** Generates until the model, a stop sequence, the schema or the limit ends it; returns whether it was the limit. */
  async function* write(
    plan: GenerationPlan,
    out: ResponseAssembler,
    sampling: RuntimeSampling,
    written: Token[],
    signal: AbortSignal,
  ): AsyncGenerator<Chunk, boolean> {
    const { action, stopSequences, maxTokens } = plan;
    const say = (piece: string): void =>
      action.type === 'call' ? out.call(0, { tool: action.tool.name, input: piece }) : out.text(piece);
    let text = '';
    let shown = 0;
    let cut = false;
    for await (const token of main.generate(plan.tokens.at(-1) ?? 0, sampling, signal)) {
      written.push(token);
      const now = model.detokenize(written).trimStart();
      const stop = firstIndexOfAny(now, stopSequences);
      text = now.slice(0, stop);
      const safe = text.length - heldBackChars(text, stopSequences);
      if (safe > shown) {
        say(text.slice(shown, safe));
        shown = safe;
        yield* out.takeChunks();
      }
      cut = written.length >= maxTokens;
      if (stop !== undefined || (plan.grammar && parseCallInput(text) !== undefined)) cut = false;
      else if (!cut) continue;
      break;
    }
    say(trimIncomplete(text).slice(shown));
    return cut;
  }

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const plan = await planFor(request, signal);
    const { action, prefix, tokens } = plan;
    const cacheRead = await main.load(tokens, signal);
    const out = createResponseAssembler({ name: 'embedded', model: described.name });
    const written: Token[] = [];
    const cut = yield* write(plan, out, samplingOptions(request, plan, written), written, signal);
    const finish = cut ? 'length' : action.type === 'call' ? 'tool-calls' : 'stop';
    out.end({
      finishReason: finish,
      usage: { input: tokens.length, output: written.length, cacheRead },
      model: described.name,
    });
    for (const chunk of out.takeChunks()) {
      if (chunk.type === 'end')
        setBounded(generatedTokens, renderMessage(chunk.message, template), [...prefix, ...written]);
      yield chunk;
    }
  }

  return {
    generate: answer,
    whenIdle: async () => Promise.all([main.whenIdle(), (await scale)?.whenIdle()]),
    async dispose() {
      await main.dispose();
      await (await scale)?.dispose();
    },
  };
}

/** Returns the max tokens of an answer; a request that leaves too few is an error before evaluation. */
function outputTokenBudget(tokens: number, { settings }: ModelRequest, { name, contextWindow }: EmbeddedModel): number {
  const wanted = settings.maxOutputTokens ?? defaultOutputTokens;
  const left = contextWindow - 1 - tokens;
  if (left >= Math.min(settings.maxOutputTokens ?? minOutputTokens, Math.floor(contextWindow / 4)))
    return Math.min(wanted, left);
  throw new FairleadError(
    'provider/context-too-long',
    `This request has ${tokens} tokens, and ${name} has room for ${contextWindow} together with the answer, so it was not read.`,
    { blame: 'user', hint: 'Compact the conversation, shorten the instructions, or choose a larger model.' },
  );
}

/** Returns the sampling options: greedy for calls and structured output, with a repeat penalty for text. */
function samplingOptions(
  { settings }: ModelRequest,
  { action, grammar }: GenerationPlan,
  written: readonly Token[],
): RuntimeSampling {
  const { temperature = 0, topP, seed } = settings;
  return {
    temperature: action.type === 'call' ? 0 : temperature,
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(grammar
      ? { grammarEvaluationState: grammar }
      : { repeatPenalty: { punishTokens: () => written.slice(-64), penalty: 1.1 } }),
  };
}

/** Returns the stop sequences: those of the caller, and the markers of other turns. */
const stopSequencesFor = ({ settings }: ModelRequest, template: ChatTemplate): readonly string[] =>
  [...(settings.stop ?? []), ...Object.values(template).map(([before]) => before.trim())].filter(Boolean);

function firstIndexOfAny(text: string, stops: readonly string[]): number | undefined {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return places.length > 0 ? minOf(places) : undefined;
}

/** Returns the length of the tail that cannot be sent yet: a possible stop sequence, an incomplete character, or trailing white space. */
function heldBackChars(text: string, stops: readonly string[]): number {
  const partialStops = stops.map((stop) => {
    for (let length = Math.min(stop.length - 1, text.length); length > 0; length--)
      if (stop.startsWith(text.slice(-length))) return length;
    return 0;
  });
  const rest = text.slice(0, text.length - maxOf(partialStops, 0));
  return text.length - trimIncomplete(rest).length;
}

/** Removes whitespace and the replacement characters of incomplete UTF-8 sequences from the end. */
const trimIncomplete = (text: string): string => trimEndChars(text, `${whitespaceChars}\uFFFD`);

function setBounded<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxCacheEntries && oldest !== undefined) map.delete(oldest);
}
