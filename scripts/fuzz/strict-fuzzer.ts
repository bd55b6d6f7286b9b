// Fuzzes strict rules: with a rule that denies the canary program, no command line that is approved automatically may run it.
import { canary, executeCommands, findProgram } from './execute-commands.ts';
import { quoteWord, type Fuzzer } from './fuzz-run.ts';
import { generateWord, programWords } from './option-fuzzer.ts';
import { splitList, type Random } from './random.ts';
import { generateLine, prepareFiles } from './shell-fuzzer.ts';

/** Programs that run another program. Programs that run a file of the project, such as make, are left out: no rule sees what is in a file. */
const wrappers = splitList(
  'env , nice , nohup , timeout 5 , timeout -k 1 5 , stdbuf -oL , setsid , setsid -w , xargs , xargs -I{} , find . -exec , find . -name a.txt -execdir , flock a.txt , flock -n a.txt -c , command , builtin command , exec , exec -a x , ionice -c3 , taskset 1 , chrt -o 0 , setarch -R , linux64 , unshare -r , env -i , env -S , env -u X , nice -n 5 , nice -5 , sh -c , bash -c , bash -lc , eval , trap , awk , sed -n , sed , script -qc , perl -e , python3 -c , tar --to-command , sort --compress-program , git -c alias.x=! , git grep -O , git bisect run , rsync -e , ssh -o , time , prlimit , setpriv , choom -n 0 , run-parts , start-stop-daemon -S -x , busybox , cat a.txt | xargs , echo canary | , coproc , alias x= , hash -p , source , .',
);

const payloads = splitList(
  `${canary} , ./${canary} , ${canary} x , {} ; , +x , -- ${canary} , "${canary}" , '${canary} x' , \\${canary} , 1e${canary} , 'BEGIN{system("${canary}")}' , -- , x , a.txt , sh , env ${canary} , bash -c ${canary} , EXIT , \\; , {} , =${canary} , ProxyCommand=${canary} , 's/h/${canary}/e'`,
);

function generateWrapped(random: Random): string {
  const words = Array.from({ length: 1 + random.below(3) }, () =>
    random.pick(random.below(3) === 0 ? wrappers : payloads),
  );
  return [random.pick(wrappers), ...words].join(' ');
}

function generateOptions(random: Random): string {
  const name = random.pick(Object.keys(programWords).filter((each) => each !== 'make'));
  const args = Array.from({ length: 1 + random.below(4) }, () => generateWord(random, programWords[name] ?? []));
  return [
    random.pick(name.startsWith('git') ? [name] : name.split(' ')),
    ...args.map((each) => quoteWord(each, random)),
  ].join(' ');
}

/** The fuzzer of strict rules. */
export const strictFuzzer: Fuzzer = {
  name: 'strict',
  rules: [{ deny: { command: canary } }],
  isAutomatic: true,
  generate: (random) => ({
    command: random.pick([generateWrapped, generateWrapped, generateLine, generateOptions])(random),
  }),
  execute: async (cases) =>
    executeCommands(cases, {
      programs: splitList(
        'ls , cat , grep , head , wc , sort , env , nice , nohup , timeout , stdbuf , setsid , xargs , find , flock , ionice , taskset , chrt , setarch , linux64 , unshare , sh , bash , awk , sed , script , perl , python3 , tar , git , rsync , ssh , prlimit , setpriv , choom , run-parts , start-stop-daemon , busybox , jq , xxd , diff , uniq , date , tree',
      ),
      prepare: prepareFiles,
      mayChange: true,
    }),
  unavailable: () => findProgram('bash') === undefined && 'needs bash',
};
