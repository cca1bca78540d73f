// An OpenID provider that others wrote, on a free port of this machine. Whoever signs in has the groups of their name,
// until `PUT /groups/{name}` says others, or null: then the account is gone.
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const [modules, redirectUri, secret, options] = process.argv.slice(2)
const { refresh, userinfo } = { refresh: true, userinfo: true, ...JSON.parse(options || '{}') }
const { Provider } = await import(pathToFileURL(createRequire(modules + '/').resolve('oidc-provider')))

const groups = new Map()
const server = createServer(async (request, response) => {
  const [, name] = request.method === 'PUT' ? /^\/groups\/(\w+)$/.exec(request.url) : []
  if (!name) return provider.callback()(request, response)
  groups.set(name, JSON.parse((await request.toArray()).join('')))
  response.writeHead(204).end()
})
let provider
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  provider = new Provider(issuer, {
    clients: [{
      client_id: 'commonplace',
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code', ...(refresh ? ['refresh_token'] : [])],
      ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: 'none' }),
    }],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    features: { userinfo: { enabled: userinfo } },
    scopes: ['openid', ...(refresh ? ['offline_access'] : [])],
    rotateRefreshToken: true,
    findAccount: (_, id) => groups.get(id) === null ? undefined : {
      accountId: id,
      claims: () => ({
        sub: id, name: `The ${id}`, groups: groups.get(id) ?? [`${id}s`],
        email: `${id}@example.org`, email_verified: id !== 'stranger',
      }),
    },
    pkce: { required: () => true },
    cookies: { keys: ['only for this run'] },
  })
  console.log(issuer)
})
process.stdin.on('end', () => process.exit(0)).resume() // whoever started it has gone
