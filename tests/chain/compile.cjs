// Reads Solidity's standard JSON on stdin and writes what the compiler makes of it on stdout. No network, no files.
const solc = require('solc')
const fs = require('fs')
process.stdout.write(solc.compile(fs.readFileSync(0, 'utf8')))
