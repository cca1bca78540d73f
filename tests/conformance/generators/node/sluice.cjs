const yargs = require('yargs')

yargs(process.argv.slice(2))
  .option('loud', { alias: 'l', type: 'boolean', describe: 'Ring the bell' })
  .command(['open <gate>', 'o'], 'Open a gate', (of) => of
    .positional('gate', { type: 'string', describe: 'which one' })
    .option('width', { alias: 'w', type: 'number', describe: 'in metres', demandOption: true })
    .option('side', { choices: ['left', 'right'], describe: 'which wing' })
    .example('$0 open north --width 3', 'A boat goes through'))
  .command('close [gate]', 'Close a gate, or all')
  .command('level', 'Levels of the water', (of) => of
    .command('show', 'Show the level')
    .command('set <metres>', 'Set the level'))
  .demandCommand()
  .parse()
