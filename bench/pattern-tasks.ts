// Tasks and a scripted noisy model for the measurement of patterns: what a task is, how often the model and the critic err, and what a revision does.
import { createRandom } from '../src/checks/index.ts';

/** An answer: the value of each part of a task. */
export type Answer = readonly number[];

/** A family of tasks. All rates are from 0 to 1. */
export type TaskFamily = {
  readonly name: string;
  /** Which pattern it is expected to favour, if any. */
  readonly favours: string;
  /** Parts that must all be right. */
  readonly parts: number;
  /** Values that a part can have. */
  readonly values: number;
  /** How often a first attempt has a part right, in the easiest and in the hardest task. */
  readonly right: readonly [number, number];
  /** How often a wrong part has one certain wrong value, the same each time. */
  readonly attraction: number;
  /** How often a revision makes a part right that the critique names. */
  readonly repair: number;
  /** How often a revision loses a part that was right. */
  readonly damage: number;
};

/** The families. Each has as many tasks as the others. */
export const families: readonly TaskFamily[] = [
  {
    name: 'repairable',
    favours: 'refinement: a named part can be repaired alone',
    parts: 5,
    values: 6,
    right: [0.85, 0.6],
    attraction: 0.3,
    repair: 0.55,
    damage: 0.03,
  },
  {
    name: 'fragile',
    favours: 'best of N: a revision damages as much as it repairs',
    parts: 5,
    values: 6,
    right: [0.85, 0.6],
    attraction: 0.3,
    repair: 0.35,
    damage: 0.2,
  },
  {
    name: 'choice',
    favours: 'the vote: one part, and wrong answers differ',
    parts: 1,
    values: 6,
    right: [0.75, 0.3],
    attraction: 0.2,
    repair: 0.45,
    damage: 0.1,
  },
  {
    name: 'misleading',
    favours: 'none: one wrong value is usual, and the critic often shares the error',
    parts: 2,
    values: 6,
    right: [0.6, 0.25],
    attraction: 0.85,
    repair: 0.25,
    damage: 0.1,
  },
];

/** The errors of the critic for each part of an answer. */
export type CriticRates = {
  /** How often a wrong part is called right. */
  readonly falsePositive: number;
  /** How often a right part is called wrong. */
  readonly falseNegative: number;
  /** How often the error about one value is the same in every request: asking again does not help. */
  readonly systematic: number;
  /** How often the critic calls the attractive wrong value right in the family `misleading`. */
  readonly shared: number;
};

/** The rates of the measurement. */
export const criticRates: CriticRates = { falsePositive: 0.15, falseNegative: 0.1, systematic: 0.5, shared: 0.5 };

/** What a critic says about an answer: which parts it calls right. */
export type Critique = readonly boolean[];

/** A task with its scripted model and critic. */
export type Task = {
  readonly family: TaskFamily;
  isRight(answer: Answer): boolean;
  /** The parts that are right, for a check that is a test. */
  test(answer: Answer): Critique;
  /** A new attempt. */
  attempt(): Answer;
  /** A revision of an answer by a critique. */
  revise(answer: Answer, critique: Critique): Answer;
  /** The noisy critique. */
  criticise(answer: Answer): Critique;
};

/** Creates a task. The random numbers of each method come from one stream of the seed, so that a run can be repeated. */
export function createTask(family: TaskFamily, index: number, count: number, seed: number): Task {
  const fixed = createRandom(seed);
  const random = createRandom(seed + 500_009);
  const {
    parts,
    values,
    right: [easy, hard],
    attraction,
    repair,
    damage,
  } = family;
  const below = (max: number, source = random): number => Math.floor(source() * max);
  const target = Array.from({ length: parts }, () => below(values, fixed));
  const attractive = target.map((value) => (value + 1 + below(values - 1, fixed)) % values);
  const rate = easy + ((hard - easy) * index) / Math.max(1, count - 1);
  /** The fixed part of the errors of the critic, for each value of each part. */
  const bias = target.map(() => Array.from({ length: values }, () => fixed()));
  const isFixed = target.map(() => Array.from({ length: values }, () => fixed() < criticRates.systematic));
  const wrong = (part: number): number => {
    if (random() < attraction) return attractive[part] ?? 0;
    return ((target[part] ?? 0) + 1 + below(values - 1)) % values;
  };
  const test = (answer: Answer): Critique => target.map((value, part) => answer[part] === value);
  return {
    family,
    test,
    isRight: (answer) => test(answer).every(Boolean),
    attempt: () => target.map((value, part) => (random() < rate ? value : wrong(part))),
    revise: (answer, critique) =>
      answer.map((value, part) => {
        if (critique[part] === false) {
          // A part that was right is lost if it is changed; the model keeps some of them in spite of the critique.
          if (value === target[part]) return random() < 0.5 ? value : wrong(part);
          return random() < repair ? (target[part] ?? 0) : wrong(part);
        }
        return value === target[part] && random() < damage ? wrong(part) : value;
      }),
    criticise: (answer) =>
      answer.map((value, part) => {
        const isRight = value === target[part];
        const isShared = family.name === 'misleading' && value === attractive[part];
        const errorRate = isRight
          ? criticRates.falseNegative
          : isShared
            ? criticRates.shared
            : criticRates.falsePositive;
        const roll = isFixed[part]?.[value] ? (bias[part]?.[value] ?? 0) : random();
        return roll < errorRate ? !isRight : isRight;
      }),
  };
}
