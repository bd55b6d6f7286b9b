// Types and loader of the native runtime node-llama-cpp, found in the installation of the program or in the data directory.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FairleadError } from '../../core/index.ts';
import { runtimeVersion } from './npm.ts';

/** The id of a token. */
export type Token = number;

/** The exports of the runtime module. */
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

/** The loaded native library. */
export interface RuntimeLlama {
  loadModel(options: { readonly modelPath: string }): Promise<RuntimeModel>;
  createGrammar(options: { readonly grammar: string }): Promise<RuntimeGrammar>;
  dispose(): Promise<void>;
}

/** A compiled grammar. */
export type RuntimeGrammar = { readonly grammar: string };

/** The evaluation state of a grammar. */
export type RuntimeGrammarState = { clone(): unknown };

/** A loaded model. */
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

/** The context of a model. */
export interface RuntimeContext {
  getSequence(): RuntimeSequence;
  dispose(): Promise<void>;
}

/** The sampling options. */
export type RuntimeSampling = {
  readonly temperature: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly grammarEvaluationState?: RuntimeGrammarState;
  readonly repeatPenalty?: { readonly punishTokens: () => Token[]; readonly penalty: number };
};

/** A query about the next token: the logits of some tokens and of the most likely one, and the sum of all. */
export type RuntimeLogitQuery = {
  readonly generateNext: {
    readonly logits: { readonly filter: { readonly tokens: readonly Token[]; readonly includeTop: number } };
    readonly totalLogitWeight: true;
  };
};

/** The result of a query about the next token. */
export type RuntimeLogitResult = {
  readonly next: { readonly logits?: ReadonlyMap<Token, number>; readonly totalLogitWeight?: number };
};

/** A token sequence in a context. */
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

/** Returns the runtime in the installation of this program, if its version is supported. The current project is not searched, because its code is untrusted. */
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

/** Loads the runtime: that of the program, or the one in this folder. */
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

/** Creates the error for native code that is installed but fails. */
export const runtimeUnusableError = (cause: unknown): FairleadError =>
  new FairleadError('embedded/unsupported', 'The runtime of the embedded model does not start on this machine.', {
    blame: 'user',
    hint: 'It needs a C library such as Debian or Ubuntu have (glibc, not musl). Use a model server or a provider with a key instead.',
    cause,
  });
