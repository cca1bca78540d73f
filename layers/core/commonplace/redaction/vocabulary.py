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
    yourname your-name your-username your_username foo bar baz qux alias shared lib libs utils core common
    components store assets api server client ui web
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
    ada airflow alloy amazon ansible apache apollo argo arrhenius astro athena aurora aws axios azure babel bash
    bazel bellman bernoulli bloom boole boto bourne byzantine caddy cal cassandra cauchy celery celsius chai
    chebyshev chef church claude clojure cloudflare codex cohere consul copilot coq cosmos cron curry cursor
    cypress dagger dante dask datadog debian diffie dijkstra django docker duckdb elastic elixir ember erlang
    euclid euler express faraday fastapi fastify feldman fibonacci firebase flask fleet flink fluentd flux
    fourier galois gatsby gauss gemini gherkin ghost git github gitlab godot goedel gompertz google gradle
    grafana graham groovy gunicorn hadoop hamming harbor hashicorp haskell hats hausdorff hellman helm heroku
    hertz hibernate hilbert hoare hopper hudson huffman hugo hypothesis istio ivy jaccard jackson jaeger jaro
    jasmine java jekyll jenkins jest jetty jinja jira jordan josefin julia jupyter kafka kahn kalman karma
    kelvin keras kerberos keycloak kibana knuth kotlin kruskal kubernetes lagrange lambda lamport langchain
    laplace laravel lerna lerp levenshtein lighthouse linux llama loki lua lucene luhn luna mailgun makeham
    mandelbrot manhattan mar markov maven mercator mercurial merkle merlin mistral mocha mojo mongo mongodb
    monte moore morse mozilla mustache naur neo neon neptune nest nestor netlify newton next nginx nim nix node
    noether nomad notion numpy nyquist ocaml ohm olap oracle paillier pandas parsel pascal patricia paxos
    pedersen perl phoenix pinia playwright poetry poisson polly polygon postgres postman prettier prim prisma
    prometheus pulsar puppet pydantic pytest python quarkus rabin rails ray react redis remix renovate rhino
    riemann ruby ruff rust safari sage sagemaker salesforce sass scala schnorr scikit selenium sentinel sentry
    sequoia shamir shannon shopify sidekiq silo slack snowflake solr sonar spark sphinx spring sqlalchemy stripe
    sumo supabase svelte swagger swift sybil symfony tailwind tauri tekton tempo tensorflow terraform tesla
    thanos thrift titan tokio tomcat tornado traefik travis trino turing twilio typescript ubuntu uniswap unix
    uvicorn vagrant valkey vault venn vercel vite vitess volt vue weaviate webpack weibull whisper winkler xcode
    yaml yarn zephyr zeus zig zipkin zod zookeeper
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

COMMON = words(
    """
    a about above access account action actions active actually add added adding adds admin after again agent
    agents alert alerts all allow almost also always an analysis analytics and another answer any anyone
    anything api app appendix apple application approach apps april are area around article artifact as ask
    assets async at august auth authentication authorization auto automation available avoid aws back backend
    background backup bad base based basic batch be because been before being below best beta better between big
    board body both branch browser budget bug bugs build builds built business but button by cache call can
    canary cannot capacity case cases category cause causes central chain change changed changelog changes
    channel chapter chat check checklist checks china choose chrome city class clean clear cli click client
    clients close cloud cluster code collection column command commands comment commit common community company
    compare component components compute conclusion config configuration configure connect connection console
    container content context continuous contract control controller conventions copy core cost could country
    create created creating cron cross current custom customer customers daily dashboard data database date day
    days db dead debug december decision decisions default define delete deploy deployment description design
    desktop detail details dev developer developers development did different digital direct directory disable
    discord discussion do docs document documentation documents does doing domain done don't double down draft
    drop due during each early eastern edge edit editor either elastic else email embedding enable end endpoint
    engine engineer engineering english ensure enter enterprise entity environment error errors even event
    events ever every everyone everything exactly example examples exception exec execution exit expect expected
    experience experimental explain explicit export extension external face fact failed failure false fast
    feature features february feedback few field fields file files final finally find fine first five fix fixed
    fixes flag flow focus folder follow following for force foreign form format foundation four framework french
    friday from front frontend full function functions further future gateway general generate german get
    getting give given global go goal goals good got great group groups guide guidelines guides had hand handle
    handler has have having he head header health hello help helper her here hi high his history home hook host
    hot hotfix how however html http https hub i id idea identity if image images impact implement
    implementation import important in incident include index infrastructure info initial input inside install
    installation instead institute integration interface internal internet interview into introduction invalid
    inventory is issue issues it item its itself january java javascript job jobs journal july june just keep
    kernel key keys kind know known lab labs language large last late later latest launch layer lead learn
    learned lesson lessons let level library license life like limit limits line link links linux list little
    live load local location lock log logger logging logic login logs long look low mac machine mail main make
    making management manager manual many map march markdown market master match may maybe me mean meeting
    memory menu merge message messages meta method metrics microsoft middle might migration minor mobile mode
    model models module modules monday monitor month more most move multi multiple must my name names native
    need network never new news next nice night no node none nor normal north not note notes nothing notice
    november now null number object objects observability october of off office official often ok old on once
    one only open operating operation operations operator option options or order organization organisation
    other otherwise our out outcome output over overview own owner package packages page pages parallel
    parameter parameters part party pass past path pattern patterns payment payments people per performance
    permission phase phone pipeline place plan planning platform please plugin plus point policy pool port
    possible post postmortem power practice pre prefer premium previous primary print prior private pro problem
    problems process processing product production profile program project projects prompt proper property
    protocol provide provider proxy public publish pull purpose push put python quality query question questions
    queue quick quickstart rate raw read reader readme real really reason rebuild recent record recovery
    redirect reference refs region regular related release releases remote remove repo report reports repository
    request requests required requirements research reset resolve resource resources response rest restart
    result results retry return returns review right risk road role roles rollback root round route router row
    rule rules run runbook runner running runs runtime safe said same sample saturday save say scale schedule
    schema scope script scripts sdk search second secret section sections secure security see select self send
    senior separate september sequence serial server serverless servers service services session set setting
    settings setup several shall share she shell short should show side sign signal similar simple simply since
    single site six size skill skills small smart so social software solution some someone something source
    sources south space spec special specific sprint sql staging standard start started starting state states
    static status step steps still stop storage store stories story strategy stream strict string structure
    studio style subject such suite summary sunday super support sure swap switch symptom symptoms sync syntax
    system systems table tables tag tags take target task tasks team teams technical template ten term terminal
    terms test testing tests text than thank thanks that the their them then there these they thing things third
    this those though three through thursday tick ticket tier time timeline times tip tips title to today todo
    together token tokens tomorrow too tool tooling tools top total track traffic training transaction transfer
    tree true try trying tuesday turn tutorial two type types typical ui under union unit united university
    unknown unless until up update updated updates upgrade uploads upon us usage use used useful user users uses
    using usually utc validate validation value values variable verify version versions very via video view
    virtual visual wait want warning warnings was watch way we web website wednesday week weekly weeks welcome
    well went were west western what when where whether which while who whole whose why wiki will window windows
    with within without word words work worker workers workflow working workspace world worth would write
    writing wrong xml year years yes yet you your zero zone somebody anybody nobody everybody mailgun success
    criterion aadhaar lärdom wniosek tanulság verzió der die das den dem des ein eine einer eines einem einen
    und oder aber wenn weil dass für mit von bei nach vor seit über unter zwischen auf aus im zu zum zur wir ich
    sie er es ihr uns nicht kein keine alle jede jeder jedes diese dieser dieses bitte neue neuer neues hinweis
    lehre aufgabe datei fehler lösung ursache ergebnis beispiel el la los las un una unos unas y o pero si
    cuando porque que para por con sin sobre entre desde hasta este esta estos estas nota ejemplo le les une du
    et ou mais quand parce pour avec sans sur depuis ce cette ces nous vous il elle erreur exemple lo gli uno e
    ma se quando perché senza su tra fra questo questa errore esempio os um uma mas com sem de het een en maar
    als omdat voor met zonder tussen deze dit w z na nie się że jest dla po od przy lub ale och eller men om för
    med utan att det ett som inte på av till är london paris berlin rome madrid tokyo york francisco angeles
    america american europe european asia africa african ireland germany france italy spain india indian japan
    japanese chinese virginia oregon ohio california frankfurt stockholm mumbai singapore sydney seoul paulo
    canada mexico brazil kingdom bay valley street ping installs download downloads optional supplemental
    contributing factors affairs roslyn hetzner hellman tailscale deployed tracker ids loss kubernetes herrings
    red navigator probe steel hybrid powershell legend crate ambiguous reuse bus naive brill keystone invariants
    bundling signing fee distribution lookup advertising simplified portal fund membership holders copyright
    vision designs analyzes self-hosted channel-specific
    """
)
"""Words that begin sentences, headings and names of products, and small words: none of them is a name's part."""
