"""Words that look like people, handles or hosts and are none, in texts about software."""


def words(text: str) -> frozenset[str]:
    """Its words, as a set."""
    return frozenset(text.split())


ANNOTATIONS = words(
    """
    abstract access after all alpha alternate angular apply apollo app asynccontextmanager attribute author
    autowired babel bean before beforeeach aftereach beta bind builder cache cached callback channel charset
    classmethod click command component conditional config configuration const constructor container context
    contextmanager controller copyright custom data dataclass dataproperty decorator default define deprecated
    description directive disabled document else endif entity enum error event example exception experimental
    export extend extends everyone file fixture flow font font-face for foreach function generated get getter
    given global graphql group here hidden hook id if ignore implements import include inherit inheritdoc inject
    injectable input interface internal jest keyframes lambda_handler layer layout lazy license link listener
    lru_cache main media member memo method middleware mixin mock model module namespace native next nestjs node
    nonnull notnull nullable observable octokit optional option options output overload override package page
    pagination param params parametrize patch path pipe post preview private prod property prop protected
    provides public put pytest query rc react readonly readme ref register release remarks repository request
    requestmapping required resource response rest restcontroller return returns route root router schema scope
    section security see self service session set setter signal since slot spring springbootapplication stable
    staging state static staticmethod style subscribe summary supports svelte suppresswarnings table tag
    tailwind task tasks team template test tests testing then this throws todo token tool transactional
    transform tutorial type typedef types typescript undocumented unsafe use usefixtures user validate validator
    value variables vite vitejs version view vue wraps where while with yield yields latest canary nightly dev
    master trunk head edge lts current stable1 dependabot renovate github-actions copilot claude codex cursor
    coderabbitai coderabbit codecov netlify vercel bot mention mentions someone anyone nobody username handle
    yourname your-name your-username your_username example foo bar baz qux alias shared lib libs utils core
    common components store assets api server client ui web
    """
)
"""What stands after an @ and is a decorator, a tag of documentation, a rule of CSS, a version, a package or a bot."""

ACCOUNTS = words(
    """
    user username users name shared public default guest you me root admin administrator ubuntu debian fedora
    centos alpine arch ec2-user runner runneradmin vscode node app apps application coder jovyan linuxbrew
    vagrant git gitlab github jenkins deploy deployer deployment build builder builds ci work workspace workdir
    project projects code dev developer docker container www www-data nginx apache postgres postgresql mysql
    redis mongodb oracle sbx_user1051 service services svc api bot bots test tester testuser test-user test_user
    demo example your-user your_user youruser yourname your-name your_name your-username your_username username1
    user1 foo bar baz someone anyone me2 codespace codespaces circleci travis airflow spark hadoop kafka elastic
    elasticsearch grafana prometheus nobody daemon system localadmin home local data src opc azureuser
    cloud-user core pi steam appuser nonroot none null nil true false string str int integer number required
    optional undefined unknown empty id ids email agent agents assistant model human people person member
    members owner group groups role roles any all new old other input output page click form button field sign
    signin log login logged password account accounts session token
    """
)
"""What stands where an account's name does, and belongs to nobody."""

TECHNICAL = words(
    """
    ada airflow alloy amazon ansible apache apollo argo astro athena aurora aws axios azure babel bash bazel
    bellman bernoulli bloom boole boto bourne byzantine caddy cassandra celery chai chebyshev chef church claude
    clojure cloudflare codex cohere consul copilot cosmos coq curry cursor cypress dagger dante dask datadog
    debian dijkstra django docker duckdb elastic elixir ember erlang euclid euler express fastapi fastify
    fibonacci firebase flask fleet flink fluentd flux fourier galois gatsby gauss gemini gherkin ghost git
    github gitlab goedel godot google gradle grafana graham groovy gunicorn hadoop hamming harbor hashicorp
    haskell hats helm heroku hertz hibernate hilbert hoare huffman hugo hypothesis istio ivy jaccard jackson
    jaeger jaro jasmine java jekyll jenkins jest jira jinja jordan josefin julia jupyter kafka kahn kalman karma
    keras kerberos keycloak kibana knuth kotlin kruskal kubernetes lagrange lambda lamport langchain laplace
    laravel lerna lerp levenshtein lighthouse linux llama loki lua lucene luhn luna mandelbrot manhattan markov
    maven mercator mercurial merkle merlin mistral mocha mojo monte mongo mongodb moore morse mozilla mustache
    naur neo neon neptune nest nestor netlify newton next nginx node noether nomad notion numpy nyquist ocaml
    olap oracle pandas parsel pascal patricia paxos perl phoenix pinia playwright poetry poisson polly polygon
    postgres postman prettier prim prisma prometheus pulsar puppet pydantic pytest python quarkus rabin rails
    ray react redis remix renovate rhino riemann ruby ruff rust safari sage sagemaker salesforce sass scala
    scikit selenium sentinel sentry sequoia shamir shannon shopify sidekiq silo slack snowflake solr sonar spark
    sphinx spring sqlalchemy stripe sumo supabase svelte swagger swift sybil symfony tailwind tauri tekton tempo
    tensorflow terraform thanos thrift titan tokio tomcat tornado traefik travis trino turing twilio typescript
    ubuntu uniswap unix uvicorn vagrant valkey vault venn vercel vite vitess vue weaviate webpack whisper
    winkler xcode yaml yarn zephyr zeus zig zipkin zod zookeeper
    """
)
"""Products, languages and people after whom methods are called. Alone they are nobody's name here."""

ALSO_WORDS = words(
    """
    able art august autumn bell bill black bond book brook brown bush card carter case chance chase chip
    christian church clay cliff cloud cook cooper cross dale dawn day dean dell diamond dick drew east eve faith
    farmer field finn fisher fitch flora ford forest fox frank free gene glen good grace grant grave gray green
    guy hall harmony heath heather hill holly home hope house hunt hunter iris ivy jack jade jay jean jet joy
    june justice key king knight lake lance lane law lily link little long love mark mars mason may melody mercy
    miles mill miller misty moon neal noble norm north olive opal page paris park pat patience pearl peg penny
    pepper pike pine pool porter price prince ray red reed rich river rob robin rock rose rowan ruby sage sally
    sam sandy scout shaw silver skip sky smith snow south spring star stella stone storm summer sunny sue tad
    taylor terry tiger tim tuck turner van victor viola violet wade walker ward west white will winter wolf wood
    woods woody worth young
    """
)
"""Names that are ordinary words as well: written small, they are taken for the word."""
