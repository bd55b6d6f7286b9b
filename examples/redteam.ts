// Attacks an agent in a simulated world, without and with the flow policy, and compares the state of the world.
import assert from 'node:assert/strict';
import { builtinAttacks, createRedTeamReport, formatRedTeamReport, runRedTeam } from 'fairlead/evals';

const attacks = builtinAttacks.filter(({ kind }) => kind === 'memory');
const runs = await runRedTeam({ attacks, model: 'obedient' });
console.log(formatRedTeamReport(createRedTeamReport('obedient', runs)));

const succeeded = (defence: string): number => runs.filter((run) => run.defence === defence && run.harmed).length;
assert.equal(succeeded('off'), attacks.length);
assert.equal(succeeded('ask'), 0);
