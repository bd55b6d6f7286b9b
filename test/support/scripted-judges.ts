// Scripted models for tests of verification: they read the prompts of the verification as a model would.
import type { VerifyModel } from '../../src/checks/index.ts';

/** A claim in the prompt of a judge. */
export type ShownClaim = {
  readonly id: string;
  readonly claim: string;
  readonly passages: readonly { readonly number: number; readonly text: string }[];
};

/** What a scripted judge says about a claim; undefined says nothing about it. */
export type ScriptedVerdict =
  | { readonly verdict: string; readonly passage?: number; readonly quotation?: string; readonly why?: string }
  | undefined;

const block = /<outside-text from="([^"]*)">\n([^]*?)\n<\/outside-text>/g;

/** Reads the claims and passages of the prompt of a judge. */
export function readJudgePrompt(prompt: string): readonly ShownClaim[] {
  const passages = new Map<number, string>();
  for (const [, from = '', text = ''] of prompt.matchAll(block)) {
    const number = /^passage (\d+)(?:,|$)/.exec(from)?.[1];
    if (number !== undefined) passages.set(Number(number), text);
  }
  return [...prompt.matchAll(/^Claim (\S+), passages ([\d, ]*):\n/gm)].map(([head, id = '', numbers = ''], i, all) => {
    const start = (all[i]?.index ?? 0) + head.length;
    const section = prompt.slice(start, all[i + 1]?.index);
    const claim = [...section.matchAll(block)].find(([, from]) => from === 'the claim')?.[2] ?? '';
    const own = numbers
      .split(', ')
      .map((number) => ({ number: Number(number), text: passages.get(Number(number)) ?? '' }));
    return { id, claim, passages: own };
  });
}

/** Options of a scripted model. */
export type ScriptedModelOptions = {
  /** The verdict about a claim. */
  readonly judge?: (shown: ShownClaim) => ScriptedVerdict;
  /** What it answers to a question. */
  readonly answer?: (question: string) => string;
  /** The question about a claim, for chain of verification. */
  readonly plan?: (claim: string) => string;
  /** Whether a text answers the question; by default if it has two of three words of the question with more than three letters. */
  readonly answers?: boolean;
  /** The text of every response, or an error that is thrown. */
  readonly always?: string | Error;
  readonly usd?: number;
};

/** A scripted model with the prompts that it was sent. */
export type ScriptedModel = VerifyModel & { readonly prompts: string[] };

/** Creates a scripted model. By default it finds a claim supported if the first passage with all of its words has a sentence with them. */
export function createScriptedModel(name: string, family: string, options: ScriptedModelOptions = {}): ScriptedModel {
  const prompts: string[] = [];
  return {
    name,
    family,
    prompts,
    async ask({ system, prompt }) {
      prompts.push(prompt);
      return {
        text: respondAsModel(options, system, prompt),
        spent: { input: 10, output: 5, usd: options.usd ?? 0.001 },
      };
    },
  };
}

/** Returns what a scripted model responds to a request of a verification. */
export function respondAsModel(options: ScriptedModelOptions, system: string, prompt: string): string {
  if (options.always instanceof Error) throw options.always;
  if (options.always !== undefined) return options.always;
  if (system.startsWith('You verify claims.'))
    return JSON.stringify({
      verdicts: readJudgePrompt(prompt).flatMap((shown) => {
        const verdict = (options.judge ?? judgeHonestly)(shown);
        return verdict ? [{ id: shown.id, passage: 0, quotation: '', why: 'It says so.', ...verdict }] : [];
      }),
    });
  if (system.startsWith('You decide whether')) {
    const [asked = '', text = ''] = [...prompt.matchAll(block)].map((match) => match[2]);
    const wanted = wordsOf(asked).filter((word) => word.length > 3 && word !== 'what' && word !== 'which');
    const found = wanted.filter((word) => wordsOf(text).some((each) => each.startsWith(word.slice(0, 5)))).length;
    return JSON.stringify({ answers: options.answers ?? found >= (wanted.length * 2) / 3, why: 'So it is.' });
  }
  if (system.startsWith('You write questions'))
    return JSON.stringify({
      questions: [...prompt.matchAll(/^Claim (\S+):\n/gm)].map(([, id], i) => ({
        id,
        question: (options.plan ?? (() => 'What is it?'))([...prompt.matchAll(block)][i]?.[2] ?? ''),
      })),
    });
  if (system.startsWith('Answer each question'))
    return JSON.stringify({
      answers: [...prompt.matchAll(/^Question (\S+):\n/gm)].map(([, id], i) => ({
        id,
        answer: (options.answer ?? (() => 'I do not know.'))([...prompt.matchAll(block)][i]?.[2] ?? ''),
      })),
    });
  return (options.answer ?? (() => 'I do not know.'))(prompt);
}

/** Supports a claim by a sentence of a passage that is the claim, and contradicts it by one that differs in one word. */
export function judgeHonestly({ claim, passages }: ShownClaim): ScriptedVerdict {
  const wanted = wordsOf(claim);
  for (const { number, text } of passages)
    for (const sentence of text.split(/(?<=[.!?。])\s*|\n/)) {
      const words = wordsOf(sentence);
      const missing = wanted.filter((word) => !words.includes(word));
      if (words.length === 0) continue;
      if (missing.length === 0) return { verdict: 'supported', passage: number, quotation: sentence };
      if (missing.length === 1 && words.length === wanted.length && wanted.length > 3)
        return { verdict: 'contradicted', passage: number, quotation: sentence };
    }
  return { verdict: 'cannot-tell' };
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
