// The reference server of MCP at a free port of this machine. As it comes it listens at every address.
import { Server } from 'node:net'
import { pathToFileURL } from 'node:url'

const [modules] = process.argv.slice(2)
const listen = Server.prototype.listen
Server.prototype.listen = function (_, ...rest) {
  return listen.call(this, { port: 0, host: '127.0.0.1' }, ...rest).once('listening', () => {
    process.stdout.write(`http://127.0.0.1:${this.address().port}/mcp\n`)
  })
}
console.log = () => {}
const folder = `${modules}/@modelcontextprotocol/server-everything/dist`
await import(pathToFileURL(`${folder}/transports/streamableHttp.js`))
process.stdin.resume().on('end', () => process.exit())
