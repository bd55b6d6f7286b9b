// Keyword weights for task difficulty: positive is harder, negative is easier.

/** The kind of a task. */
export type TaskKind = 'design' | 'build' | 'fix' | 'change' | 'explain' | 'other';

/** The weight of a word. */
export type LexiconEntry = { readonly weight: number; readonly kind: TaskKind };

/** No single word makes a task hard: the max weight is below the threshold of a small model, two words exceed it. */
const weightsByKind: Readonly<Record<Exclude<TaskKind, 'other'>, Readonly<Record<string, number>>>> = {
  design: {
    architecture: 0.45,
    architect: 0.45,
    design: 0.3,
    redesign: 0.4,
    plan: 0.2,
    strategy: 0.25,
    distributed: 0.4,
    protocol: 0.25,
    threat: 0.3,
    scalable: 0.3,
    consensus: 0.4,
    prove: 0.4,
    proof: 0.4,
  },
  build: {
    implement: 0.25,
    build: 0.15,
    create: 0.1,
    write: 0.1,
    integrate: 0.25,
    integration: 0.25,
    algorithm: 0.3,
    parser: 0.3,
    compiler: 0.4,
    feature: 0.15,
    concurrent: 0.35,
    encryption: 0.35,
    authentication: 0.25,
  },
  fix: {
    bug: 0.2,
    fix: 0.15,
    debug: 0.25,
    crash: 0.25,
    leak: 0.3,
    deadlock: 0.4,
    race: 0.35,
    regression: 0.25,
    vulnerability: 0.35,
    flaky: 0.35,
    investigate: 0.25,
    performance: 0.25,
    optimize: 0.3,
  },
  change: {
    refactor: 0.35,
    rewrite: 0.3,
    migrate: 0.4,
    migration: 0.4,
    port: 0.3,
    upgrade: 0.2,
    rename: -0.4,
    typo: -0.5,
    format: -0.3,
    spelling: -0.5,
    comment: -0.2,
    bump: -0.3,
    indent: -0.4,
  },
  explain: {
    analyze: 0.25,
    compare: 0.15,
    review: 0.2,
    explain: -0.1,
    summarize: -0.2,
    list: -0.3,
    show: -0.3,
    print: -0.2,
    translate: -0.1,
    hello: -0.5,
    thanks: -0.5,
  },
};

/** All keywords with their weights. */
export const lexicon: ReadonlyMap<string, LexiconEntry> = new Map(
  Object.entries(weightsByKind).flatMap(([kind, words]) =>
    Object.entries(words).map(([word, weight]) => [word, { weight, kind: kind as TaskKind }] as const),
  ),
);
