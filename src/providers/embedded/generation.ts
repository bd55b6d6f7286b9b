// Generates an answer of the embedded model: streamed text, or one call that follows its schema.
import {
  FairleadError,
  trimEndChars,
  whitespaceChars,
  type Chunk,
  type ModelRequest,
  type ToolSpec,
  maxOf,
  minOf,
} from '../../core/index.ts';
import { createResponseAssembler, type ResponseAssembler } from '../http/response-assembler.ts';
import { chooseAction, type ResponseAction } from './choose-tool.ts';
import type { LoadedModel } from './model-pool.ts';
import { limitToWords, schemaToGrammar, expectedKeys } from './grammar.ts';
import type { ChatTemplate } from './chat-templates.ts';
import { resolveTemplate, type EmbeddedModel } from './models.ts';
import {
  toolRequestPrefix,
  toolCallPrefix,
  renderMessage,
  lastUserRequest,
  parseCallInput,
  renderPrompt,
  turnMarkers,
  type PromptSegment,
} from './prompt.ts';
import {
  callEnd,
  callInputGrammar,
  callNamePrefix,
  callStart,
  findNamedTool,
  formatName,
  toolNameGrammar,
} from './tool-format.ts';
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

/** How a part of an answer ended: at the limit, or at a stop sequence. */
type WriteEnd = { readonly cut: boolean; readonly stoppedAt?: string };

/** The default max tokens of an answer: more would take minutes. A model that edits files has to write them. */
const defaultOutputTokens = 512;
const defaultOutputTokensWithTools = 2048;
/** Tokens reserved for an answer if no limit is set. */
const minOutputTokens = 256;
/** The max tokens of a request that are scored: its start states the task. */
const maxScoredTokens = 64;
const maxCacheEntries = 200;
/** The max tokens of the name of a tool; the grammar ends it earlier. */
const maxNameTokens = 100;

/** Starts a conversation with its own context, which is kept between answers. */
export async function createEmbeddedConversation(
  loaded: LoadedModel,
  described: EmbeddedModel,
  threads: number,
): Promise<EmbeddedConversation> {
  const { model, llama, runtime } = loaded;
  const template = resolveTemplate(described);
  const { toolFormat } = described;
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
    return compileGrammar(schemaToGrammar(schema, act.type === 'call' ? described.propertyFill : 'all'));
  }

  async function compileGrammar(text: string): Promise<NonNullable<RuntimeSampling['grammarEvaluationState']>> {
    const grammar = grammars.get(text) ?? llama.createGrammar({ grammar: text });
    setBounded(grammars, text, grammar);
    return new runtime.LlamaGrammarEvaluationState({ model, grammar: await grammar });
  }

  async function planFor(request: ModelRequest, signal: AbortSignal): Promise<GenerationPlan> {
    const asked = tokensOf(renderPrompt(request, template, toolFormat));
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
    const act: ResponseAction = toolFormat === undefined ? await decide(request, signal) : { type: 'words' };
    const lead = (act.type === 'call' && leads.get(act.tool.name)) || [];
    const grammar = await grammarFor(request, act);
    return {
      action: act,
      prefix: lead,
      tokens: [...asked, ...lead],
      maxTokens: most,
      grammar,
      stopSequences: grammar
        ? []
        : [...(toolFormat === undefined ? [] : [callStart]), ...stopSequencesFor(request, template)],
    };
  }

  /** Generates until the model, a stop sequence, the schema or the limit ends it. */
  async function* write(
    plan: GenerationPlan,
    out: ResponseAssembler,
    sampling: RuntimeSampling,
    written: Token[],
    signal: AbortSignal,
  ): AsyncGenerator<Chunk, WriteEnd> {
    const { action, stopSequences, maxTokens } = plan;
    const say = (piece: string): void =>
      action.type === 'call' ? out.call(0, { tool: action.tool.name, input: piece }) : out.text(piece);
    let text = '';
    let shown = 0;
    let cut = false;
    let stoppedAt: string | undefined;
    for await (const token of main.generate(plan.tokens.at(-1) ?? 0, sampling, signal)) {
      written.push(token);
      const now = model.detokenize(written).trimStart();
      const stop = firstIndexOfAny(now, stopSequences);
      text = now.slice(0, stop);
      stoppedAt = stop === undefined ? undefined : stopSequences.find((each) => now.startsWith(each, stop));
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
    return { cut, ...(stoppedAt === undefined ? {} : { stoppedAt }) };
  }

  /** Generates the name of a tool. */
  async function writeName(
    tokens: readonly Token[],
    { tools }: ModelRequest,
    signal: AbortSignal,
  ): Promise<{ readonly tool: ToolSpec; readonly tokens: readonly Token[] } | undefined> {
    await main.load(tokens, signal);
    const written: Token[] = [];
    const grammarEvaluationState = await compileGrammar(toolNameGrammar(tools));
    for await (const token of main.generate(tokens.at(-1) ?? 0, { temperature: 0, grammarEvaluationState }, signal)) {
      written.push(token);
      const tool = findNamedTool(model.detokenize(written), tools);
      if (tool) return { tool, tokens: written };
      if (written.length > maxNameTokens) break;
    }
    return undefined;
  }

  /** Generates a call in the format of the model, of the required tool or of one that it names; returns all tokens after the prompt. */
  async function* writeCall(
    request: ModelRequest,
    plan: GenerationPlan,
    before: readonly Token[],
    out: ResponseAssembler,
    signal: AbortSignal,
  ): AsyncGenerator<Chunk, WriteEnd & { readonly written: readonly Token[]; readonly hasCall: boolean }> {
    const { toolChoice, tools } = request;
    const required = typeof toolChoice === 'object' ? tools.find(({ name }) => name === toolChoice.tool) : undefined;
    const start = [...before, ...plain(callNamePrefix)];
    const named = required
      ? { tool: required, tokens: plain(formatName(required.name)) }
      : await writeName([...plan.tokens, ...start], request, signal);
    if (!named) return { cut: false, written: before, hasCall: false };
    const lead = [...start, ...named.tokens];
    const call: GenerationPlan = {
      ...plan,
      action: { type: 'call', tool: named.tool },
      tokens: [...plan.tokens, ...lead],
      maxTokens: Math.max(1, plan.maxTokens - lead.length),
      grammar: await compileGrammar(callInputGrammar(named.tool)),
      stopSequences: [],
    };
    await main.load(call.tokens, signal);
    const input: Token[] = [];
    const end = yield* write(call, out, samplingOptions(request, call, input), input, signal);
    return { ...end, written: [...lead, ...input, ...plain(callEnd)], hasCall: true };
  }

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const plan = await planFor(request, signal);
    const { action, prefix, tokens } = plan;
    const { toolChoice, tools } = request;
    const cacheRead = await main.load(tokens, signal);
    const out = createResponseAssembler({ name: 'embedded', model: described.name });
    const text: Token[] = [];
    const mustCall = toolFormat !== undefined && tools.length > 0 && !['auto', 'none'].includes(String(toolChoice));
    let end: WriteEnd = { cut: false, stoppedAt: callStart };
    if (mustCall) text.push(...plain(callStart));
    else end = yield* write(plan, out, samplingOptions(request, plan, text), text, signal);
    let written: readonly Token[] = text;
    let hasCall = action.type === 'call';
    if (end.stoppedAt === callStart && tools.length > 0 && toolChoice !== 'none')
      ({ written, hasCall, ...end } = yield* writeCall(request, plan, text, out, signal));
    out.end({
      finishReason: end.cut ? 'length' : hasCall ? 'tool-calls' : 'stop',
      usage: { input: tokens.length, output: written.length, cacheRead },
      model: described.name,
    });
    for (const chunk of out.takeChunks()) {
      // Tokens of a stop sequence are not part of the message.
      if (chunk.type === 'end' && (end.stoppedAt === undefined || hasCall))
        setBounded(generatedTokens, renderMessage(chunk.message, template, toolFormat), [...prefix, ...written]);
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
function outputTokenBudget(
  tokens: number,
  { settings }: ModelRequest,
  { name, contextWindow, toolFormat }: EmbeddedModel,
): number {
  const wanted =
    settings.maxOutputTokens ?? (toolFormat === undefined ? defaultOutputTokens : defaultOutputTokensWithTools);
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
  [...(settings.stop ?? []), ...turnMarkers(template)].filter(Boolean);

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
