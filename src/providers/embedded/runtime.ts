// The native runtime, node-llama-cpp, as far as it is used here: found in the project or in the data directory, loaded on demand.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FairleadError } from '../../core/index.ts';
import { runtimeVersion } from './npm.ts';

/** A piece of text as the model counts it. */
export type Token = number;

/** What the runtime's module exports. */
export interface RuntimeModule {
  getLlama(options: {
    readonly gpu: false;
    readonly build: 'never';
    readonly logLevel: 'error';
    readonly maxThreads: number;
  }): Promise<RuntimeLlama>;
  readonly LlamaGrammarEvaluationState: new (options: {
    readonly model: RuntimeModel;
    readonly grammar: RuntimeGrammar;
  }) => RuntimeGrammarState;
}

/** The native library, loaded. */
export interface RuntimeLlama {
  loadModel(options: { readonly modelPath: string }): Promise<RuntimeModel>;
  createGrammar(options: { readonly grammar: string }): Promise<RuntimeGrammar>;
  dispose(): Promise<void>;
}

/** A compiled grammar. */
export type RuntimeGrammar = { readonly grammar: string };

/** How far an answer has come in its grammar. */
export type RuntimeGrammarState = { clone(): unknown };

/** A model in memory. */
export interface RuntimeModel {
  readonly tokens: { readonly bos: Token | null };
  tokenize(text: string, markup: boolean, options: 'trimLeadingSpace'): Token[];
  detokenize(tokens: readonly Token[], markup?: boolean): string;
  createContext(options: {
    readonly contextSize: number;
    readonly batchSize: number;
    readonly threads: number;
  }): Promise<RuntimeContext>;
  dispose(): Promise<void>;
}

/** The working memory of a model. */
export interface RuntimeContext {
  getSequence(): RuntimeSequence;
  dispose(): Promise<void>;
}

/** How the next token is chosen. */
export type RuntimeSampling = {
  readonly temperature: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly grammarEvaluationState?: RuntimeGrammarState;
  readonly repeatPenalty?: { readonly punishTokens: () => Token[]; readonly penalty: number };
};

/** What is asked about the token that follows: the logits of some tokens and of the likeliest, and the weight of all. */
export type RuntimeLogitQuery = {
  readonly generateNext: {
    readonly logits: { readonly filter: { readonly tokens: readonly Token[]; readonly includeTop: number } };
    readonly totalLogitWeight: true;
  };
};

/** What was asked about the token that follows. */
export type RuntimeLogitResult = {
  readonly next: { readonly logits?: ReadonlyMap<Token, number>; readonly totalLogitWeight?: number };
};

/** A text in working memory. */
export interface RuntimeSequence {
  readonly nextTokenIndex: number;
  readonly contextTokens: readonly Token[];
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<void>;
  evaluate(tokens: Token[], sampling: RuntimeSampling): AsyncGenerator<Token, void, void>;
  controlledEvaluate(
    tokens: readonly (Token | readonly [Token, RuntimeLogitQuery])[],
  ): Promise<readonly (RuntimeLogitResult | undefined)[]>;
}

/** The runtime that this program's own installation has, if it is one that we know. A project one happens to work in is not asked: its code is not ours to run. */
export function findBundledRuntime(): string | undefined {
  try {
    const entry = import.meta.resolve('node-llama-cpp');
    const manifest = path.join(path.dirname(fileURLToPath(entry)), '..', 'package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
    return version.split('.')[0] === runtimeVersion.split('.')[0] ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Loads the runtime: the program's own, or the one installed in this folder. */
export async function loadRuntime(home: string | undefined): Promise<RuntimeModule> {
  const file = home === undefined ? '' : path.join(home, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  const entry = findBundledRuntime() ?? (existsSync(file) ? pathToFileURL(file).href : undefined);
  try {
    if (entry !== undefined) return (await import(entry)) as RuntimeModule;
  } catch (error) {
    throw runtimeUnusableError(error);
  }
  throw runtimeUnusableError(undefined);
}

/** The error for native code that is there and does not run. */
export const runtimeUnusableError = (cause: unknown): FairleadError =>
  new FairleadError('embedded/unsupported', 'The runtime of the embedded model does not start on this machine.', {
    blame: 'user',
    hint: 'It needs a C library such as Debian or Ubuntu have (glibc, not musl). Use a model server or a provider with a key instead.',
    cause,
  });
