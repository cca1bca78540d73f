"""What people are told of a console's commands against what its code reads: which an entry says, and how surely."""

from collections.abc import Mapping
from typing import Any

import pytest

from commonplace.reference.model import Entry
from commonplace_generators import console
from commonplace_generators.console_usage import parameters, tokens, ways
from commonplace_generators.generated import Generated

DISPATCH = """
const execute = (command: string) => {
  const parts = command.trim().split(' ').filter(Boolean);
  if (parts[0] !== 'desk') return print('Begin with desk.');
  const [, area, action, ...rest] = parts;
  switch (area) { case 'pools': return pools(action, rest); }
};
"""


def generated(source: str, root: str = "") -> Generated:
    options: Mapping[str, Any] = {"root": root} if root else {}
    return console.generate(source.encode(), source="Console.tsx", options=options)


def called(source: str, root: str = "") -> dict[str, Entry]:
    return {entry.name or "": entry for entry in generated(source, root).entries}


def pools(cases: str, more: str = "") -> dict[str, Entry]:
    handler = f"const pools = async (action: string, args: string[]) => {{ switch (action) {{ {cases} }} }};"
    return called(f"{handler}\n{DISPATCH}\n{more}", "desk")


def told(entry: Entry) -> dict[str, tuple[str | None, bool]]:
    return {one.name: (one.type, one.required) for one in entry.parameters or ()}


def test_a_usage_says_how_and_a_row_of_jsx_what_for() -> None:
    found = pools(
        "case 'add': if (!args[0]) return print('Usage: desk pools add <name> --shore=<shore> [--depth=<cm>]');"
        " return post(args);",
        """const Help = () => <table><tbody><tr>
             <td className="a">pools add &lt;name&gt; --shore=X</td>
             <td className="b">Add a pool to a <em>shore</em><div>Example: desk pools add Gully --shore=north</div></td>
           </tr></tbody></table>;""",
    )
    entry = found["desk pools add"]
    assert (entry.syntax, entry.summary) == (
        "desk pools add <name> --shore=<shore> [--depth=<cm>]",
        "Add a pool to a shore",
    )
    assert told(entry) == {"<name>": (None, True), "--shore": ("<shore>", True), "--depth": ("<cm>", False)}
    assert (entry.confidence, entry.aliases) == ("exact", ["pools add"])


def test_a_row_tells_the_syntax_where_no_usage_does() -> None:
    rows = """const Help = () => <ul>
        <li><code>pools list</code> <span>List all pools</span></li>
        <li><code>pools list --shore="north"</code> <span>Those of one shore</span></li></ul>;"""
    entry = pools("case 'list': return get(args.includes('--all'));", rows)["desk pools list"]
    assert (entry.syntax, entry.usages) == ("desk pools list", ['desk pools list --shore="north"'])
    assert (entry.summary, entry.confidence) == ("List all pools", "exact")
    assert list(told(entry)) == ["--shore", "--all"]


def test_one_of_many_comes_after_one_of_one() -> None:
    cases = """case 'drop': {
      if (many) { return print('Usage: desk pools drop --filter="shore:*" [--dry-run]'); }
      if (!args[0]) { return print('Usage: desk pools drop <name>'); }
      return drop(args[0]);
    }"""
    entry = pools(cases)["desk pools drop"]
    assert entry.syntax == "desk pools drop <name>"
    assert entry.usages == ['desk pools drop --filter="shore:*" [--dry-run]']
    assert told(entry) == {"<name>": (None, True), "--filter": ('"shore:*"', False), "--dry-run": (None, False)}


def test_options_are_described_by_the_list_behind_a_usage_and_read_by_code() -> None:
    cases = """case 'add': {
      const params = parseArgs(args);
      if (!args[0]) {
        print('Usage: desk pools add <name> [options]');
        print('  --shore=<shore>     Where it lies (required)');
        print('  --kind=rock|sand    What its ground is');
        return;
      }
      return post({ shore: params.shore, depth: params.depth, shut: params.shut === 'true' });
    }"""
    parse = "const parseArgs = (args: string[]) => args.filter((one) => one.startsWith('--')).map(cut);"
    entry = pools(cases, parse)["desk pools add"]
    assert told(entry) == {
        "<name>": (None, True),
        "--shore": ("<shore>", True),
        "--kind": ("rock|sand", False),
        "--depth": ("<value>", False),
        "--shut": (None, False),
    }
    assert {one.name: one.description for one in entry.parameters or ()}["--kind"] == "What its ground is"


def test_a_usage_with_a_part_that_is_not_known_is_told_and_not_taken() -> None:
    source = (
        "const pools = (action: string, args: string[]) => { if (action === 'move') {"
        " print(`Usage: desk pools move ${shape()} <to>`); return move(args[0]); } };" + DISPATCH
    )
    found = generated(source, "desk")
    (entry,) = found.entries
    assert (entry.syntax, entry.confidence) == ("desk pools move <value>", "inferred")
    assert any("A part of this usage is unknown: `desk pools move … <to>`" in one.what for one in found.unread)


def test_a_usage_that_is_cut_off_is_told_and_not_taken() -> None:
    source = "const tell = () => print('Usage: desk pools list --filter=\"shore:'); function run(command: string) {"
    found = generated(source + " if (command === 'pools list') return list(); }")
    assert [(one.name, one.confidence) for one in found.entries] == [("pools list", "inferred")]
    assert any("cut off in the middle" in one.what for one in found.unread)


def test_a_note_of_an_old_name_is_no_summary() -> None:
    cases = """
      // Deprecated: use the tide table instead.
      case 'tide': return tide(args);
      // Show the tide table of a shore.
      case 'tides': return tides(args);
    """
    found = pools(cases)
    assert "not described" in found["desk pools tide"].summary
    assert found["desk pools tides"].summary == "Show the tide table of a shore."


@pytest.mark.parametrize(
    ("printed", "summary"),
    [
        (
            "print('Usage: desk pools wash <name>'); print('Washes a pool with clean water.');",
            "Washes a pool with clean water",
        ),
        ("print('Failed to wash the pool: ' + error);", "Wash the pool"),
        ("print(`Pool washed: ${args[0]}`);", "Says “Pool washed: …”."),
    ],
)
def test_a_command_without_help_is_described_by_what_it_prints(printed: str, summary: str) -> None:
    assert pools(f"case 'wash': {{ {printed} return post(args[0]); }}")["desk pools wash"].summary == summary


def test_words_that_only_choose_a_beginning_are_no_commands() -> None:
    found = called(
        """
        const verbs = ['add', 'drop'];
        function run(input: string) {
          let line = input.trim();
          if (!line.startsWith('desk ') && verbs.includes(line.split(' ')[0])) { line = `desk ${line}`; }
          if (line.startsWith('desk ')) { return dispatch(line); }
        }
        function dispatch(line: string) {
          const parts = line.split(' ').filter((one) => one);
          parts.shift();
          switch (parts[0]) {
            case 'add': if (parts[1] === 'pool') { return add(parts[2]); } break;
            case 'api': case 'drop': return call(parts.slice(1));
          }
        }
        """,
        "desk",
    )
    assert {name: entry.aliases for name, entry in found.items()} == {"desk add pool": [], "desk api": ["desk drop"]}


def test_words_that_the_code_puts_in_front_choose_one_case() -> None:
    found = called(
        """
        function run(command: string) {
          const [verb, ...args] = command.split(' ');
          if (verb === 'fresh') return water(['change', ...args]);
          if (verb === 'water') return water(args);
        }
        const water = (args: string[]) => {
          switch (args[0]) { case 'change': return change(args.slice(1)); case 'test': return test(args[1]); }
        };
        """
    )
    assert sorted(found) == ["fresh", "water change", "water test"]


def test_a_handler_is_entered_though_its_name_sounds_like_a_cut() -> None:
    cases = "case 'keys': await handleTokens(args); break;"
    more = "const handleTokens = async (args: string[]) => { print('Failed to fetch keys of the desk: ' + error); };"
    assert pools(cases, more)["desk pools keys"].summary == "Fetch keys of the desk"


def test_values_of_arguments_and_options_are_no_commands() -> None:
    found = called(
        """
        function run(command: string) {
          const words = command.split(' ');
          if (words[0] === 'count') {
            if (words[2] && !['crab', 'snail'].includes(words[2])) return print('Usage: count <pool> [crab|snail]');
            const kind = value(words, '--kind');
            switch (kind) { case 'wet': return wet(); default: return dry(words[1].replace('r', 'w')); }
          }
        }
        const tutorial = (line: string) => { if (line === 'count first') { next(); } };
        """
    )
    assert {name: entry.syntax for name, entry in found.items()} == {"count": "count <pool> [crab|snail]"}
    assert list(told(found["count"])) == ["<pool>", "<crab|snail>", "--kind"]


def test_a_group_with_something_else_to_do_is_a_command_as_well() -> None:
    found = called(
        """
        function run(command: string) {
          const [verb, ...rest] = command.split(' ');
          const arg = rest.join(' ');
          if (verb === 'costs') {
            if (arg === 'species') { all(); } else if (arg === '--today') { today(); } else { sum(); }
          }
          if (verb === 'tides') { if (arg === 'now') { now(); } else { print('Usage: tides <what>'); } }
        }
        """
    )
    assert {name: entry.syntax for name, entry in found.items()} == {
        "costs": "costs [--today]",
        "costs species": "costs species",
        "tides now": "tides now",
        "tides": "tides <what>",
    }


def test_a_table_of_handlers_that_others_look_up_is_read_with_the_help_of_each() -> None:
    found = called(
        """
        export const commands: Record<string, (args: string[]) => string> = {
          clear: () => '',
          notes: (args) => {
            const usage = `Usage: notes [command] [args]

              add <text>      Add a note
              clear [shore]   Forget notes
              all             Show them all`;
            switch (args[0]) {
              case 'add': return add(args[1]);
              case 'clear': return clear(args[1]);
              case 'all': return all();
              default: return usage;
            }
          },
        };
        """
    )
    assert {name: (one.syntax, one.confidence) for name, one in found.items()} == {
        "clear": ("clear", "inferred"),
        "notes add": ("notes add <text>", "exact"),
        "notes clear": ("notes clear [shore]", "exact"),
        "notes all": ("notes all", "exact"),
    }
    assert found["notes clear"].summary == "Forget notes"


def test_commands_that_are_made_one_by_one_have_the_sign_that_a_line_begins_with() -> None:
    found = generated(
        """
        export const Commands = [
          new Command({ command: 'wave', args: '<shore> [reason]', description: t('commands.wave'),
            aliases: ['hail', 'say hello'], runFn: function (client, args) { return client.send(args); } }),
          new Command({ command: 'dive', description: 'Go down.', runFn: () => down() }),
          ...effects.map((one) => new Command({ command: one.name, runFn: () => one.run() })),
        ];
        export function parse(input: string) { if (input[0] !== '/') return {}; return { cmd: input.slice(1) }; }
        """
    )
    assert [(one.name, one.syntax, one.confidence) for one in found.entries] == [
        ("/dive", "/dive", "exact"),
        ("/wave", "/wave <shore> [reason]", "exact"),
    ]
    assert "not described" in found.entries[1].summary
    assert found.entries[1].aliases == ["/hail", "say hello"]
    assert any("The name of a command is computed here" in one.what for one in found.unread)


def test_a_help_text_names_the_sign_and_other_ways_to_type() -> None:
    found = called(
        """
        class Chat {
          handle(line: string) {
            const parts = line.slice(1).trim().split(' ');
            switch (parts[0]) {
              case 'shore': case 's': return this.shore(parts.slice(1));
              case 'shores': return this.shores();
              case 'help': return `Commands:
                /shore [name] or /s [name] - Choose the shore
                /shores - List the shores
                /help - Show this`;
            }
          }
          private shore(args: string[]) { return args.length === 0 ? now() : go(args[0]); }
          private shores() { return all(); }
        }
        """
    )
    assert {name: (one.syntax, one.summary, one.aliases) for name, one in found.items()} == {
        "/shore": ("/shore [name]", "Choose the shore", ["/s"]),
        "/shores": ("/shores", "List the shores", []),
        "/help": ("/help", "Show this", []),
    }


def test_words_that_have_the_sign_in_the_code_get_no_second_one() -> None:
    found = called(
        """
        const HELP = `
          /index            Read all charts again
          /index <chart>    Read one chart
          /quit             Leave`;
        async function shell(desk: Desk) {
          const typed = await prompt.question('> ');
          if (!typed.startsWith('/')) return;
          const [verb, ...args] = typed.split(' ');
          switch (verb) {
            case '/index': return args.length > 0 ? read(args[0]) : readAll();
            case '/quit': return leave();
          }
        }
        """
    )
    index = found["/index"]
    assert (index.syntax, index.usages, index.summary) == ("/index", ["/index <chart>"], "Read all charts again")
    assert sorted(found) == ["/index", "/quit"]


def test_a_list_of_commands_may_call_them_labels() -> None:
    found = called(
        """
        export const COMMANDS = [
          { key: 'help', label: '/help', description: 'Show this' },
          { key: 'tide', label: '/tide', description: 'Show the tide' },
        ] as const;
        export const settings = [{ key: 'theme', label: 'dark', description: 'Dark colours' }];
        export const runner = (rawInput: string) => {
          const cmd = rawInput.replace(/^\\s*\\//, '').trim();
          if (cmd === 'help') { show(); return; }
          if (cmd === 'tide') { tide(); return; }
        };
        """
    )
    assert {name: one.summary for name, one in found.items()} == {"/help": "Show this", "/tide": "Show the tide"}


def test_a_table_without_syntax_says_less_than_the_code() -> None:
    found = called(
        """
        const HELP = [{ cmd: 'echo', desc: 'print anything' }, { cmd: 'quit', desc: 'leave' }];
        function run(command: string) {
          const [verb, ...args] = command.split(' ');
          if (verb === 'echo') { const text = args[0]; return print(text, args.includes('--loud')); }
          if (verb === 'quit') return leave();
        }
        """
    )
    assert {name: (one.syntax, one.confidence) for name, one in found.items()} == {
        "echo": ("echo <text> [--loud]", "inferred"),
        "quit": ("quit", "exact"),
    }


def test_commands_that_are_registered_one_by_one_are_read() -> None:
    found = called(
        """
        const commands = new Map<string, Command>();
        const spawn = { description: 'Make a crab', usage: 'spawn <kind> [count]', execute: (args) => make(args[0]) };
        commands.set('spawn', spawn);
        registerCommand('calm', 'Still the water', () => still());
        console.addCommand('wave <shore>', 'Greet a shore', (args: string[]) => greet(args[0]));
        export function run(line: string) {
          const [name, ...args] = line.split(' ');
          commands.get(name)?.execute(args);
        }
        """
    )
    assert {name: (one.syntax, one.summary, one.confidence) for name, one in found.items()} == {
        "spawn": ("spawn <kind> [count]", "Make a crab", "exact"),
        "calm": ("calm", "Still the water", "exact"),
        "wave": ("wave <shore>", "Greet a shore", "exact"),
    }


def test_handlers_in_an_object_by_their_words_are_described_beside_them() -> None:
    found = called(
        """
        const Terminal = () => {
          const table = {
            open: { description: 'Open a chart', usage: '<chart>', fn: (chart: string) => show(chart) },
            paint: { description: 'Change the colours', fn: (...args: string[]) => set(args[0]) },
            quit: { description: 'Leave', fn: () => leave() },
          };
          const handle = (input: string) => {
            const [cmd, ...args] = input.trim().split(' ');
            return cmd in table ? table[cmd].fn(...args) : 'not found';
          };
        };
        """
    )
    assert {name: (one.syntax, one.summary, one.confidence) for name, one in found.items()} == {
        "open": ("open <chart>", "Open a chart", "exact"),
        "paint": ("paint <value>", "Change the colours", "inferred"),
        "quit": ("quit", "Leave", "exact"),
    }


def test_a_chat_bot_is_read_without_a_function_of_its_own() -> None:
    found = called(
        """
        const prefix = '!';
        client.on('message', async (message) => {
          if (message.author.bot || !message.content.startsWith(prefix)) return;
          const args = message.content.slice(prefix.length).trim().split(/ +/);
          const command = args.shift().toLowerCase();
          if (command === 'tide') {
            // Shows the tide.
            message.channel.send(tide());
          } else if (command === 'ban') {
            if (!args.length) return message.reply('Usage: !ban <user> [reason]');
            ban(args[0]);
          }
        });
        """
    )
    assert {name: (one.syntax, one.confidence) for name, one in found.items()} == {
        "!tide": ("!tide", "inferred"),
        "!ban": ("!ban <user> [reason]", "exact"),
    }
    assert found["!tide"].summary == "Shows the tide."


def test_a_handler_of_another_source_leaves_the_parameters_unknown() -> None:
    found = called(
        """
        import { dive } from './dive';
        const table = { dive, rest: () => 'resting' };
        function run(command: string) { const [verb, ...args] = command.split(' '); return table[verb]?.(args); }
        """
    )
    assert {name: one.parameters for name, one in found.items()} == {"dive": None, "rest": []}


def test_examples_are_shown_with_what_they_do() -> None:
    shown = "const Shown = () => <div><h4>Add a pool</h4><code>pools add Gully --shore=north</code></div>;"
    entry = pools("case 'add': return post(args);", shown)["desk pools add"]
    assert [(one.description, one.code) for one in entry.examples] == [("Add a pool", "pools add Gully --shore=north")]


def test_prose_in_a_table_is_no_way_to_type_a_command() -> None:
    rows = "const Help = () => <dl><div><dt>Pools add up</dt><dd>over the year</dd></div></dl>;"
    entry = pools("case 'add': return post(args[0]);", rows)["desk pools add"]
    assert (entry.syntax, entry.confidence) == ("desk pools add <value>", "inferred")


def test_a_help_text_alone_is_believed_and_told() -> None:
    found = generated(
        """
        export const HELP = [
          'Type help to learn more',
          '  dive [depth]     Go down',
          '  rise             Come up',
          '  log <text>       Write into the log',
        ];
        export const DETAILS = { dive: ['Usage: dive [depth] [--slow]', 'Not deeper than thirty metres.'] };
        """
    )
    assert [(one.name, one.syntax, one.summary) for one in found.entries] == [
        ("dive", "dive [depth] [--slow]", "Go down"),
        ("log", "log <text>", "Write into the log"),
        ("rise", "rise", "Come up"),
    ]
    assert any("no code that reads it was found" in one.what for one in found.unread)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Usage: dive <depth> [--slow]", [("dive <depth> [--slow]", "")]),
        ("Missing depth. Usage: dive <depth>. Example: dive 3", [("dive <depth>", "")]),
        ("  dive [depth]    Go down", [("dive [depth]", "Go down")]),
        ("• dive <depth - in cm> — Go down", [("dive <depth - in cm>", "Go down")]),
        ("Go down (usage: dive <depth>)", [("dive <depth>", "")]),
        ("Usage: dive <depth> | dive stop", [("dive <depth>", ""), ("dive stop", "")]),
        ("Usage: dive [depth] or dive --stop", [("dive [depth]", ""), ("dive --stop", "")]),
        ('log --text="two words"  Write', [('log --text="two words"', "Write")]),
        ("", []),
        ("<b>", []),
    ],
)
def test_a_line_is_read_as_ways_to_type_and_what_for(line: str, found: list[tuple[str, str]]) -> None:
    assert [(one.text, one.summary) for one in ways(line) if not isinstance(one, str)] == found


@pytest.mark.parametrize("cut", ['--filter="shore:', "<depth", "[--slow", "depth>", "a)"])
def test_what_is_not_closed_is_no_list_of_words(cut: str) -> None:
    assert tokens(f"dive {cut}") is None


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("[-l/-a/program]", ["-l", "-a", "<program>"]),
        ("[script name] [args...]", ["<script name>", "<args...>"]),
        ("<email|--all>", ["<email|--all>", "--all"]),
        ("--to <port> <ship>", ["--to", "<ship>"]),
        ("METHOD <path> [options]", ["METHOD", "<path>"]),
    ],
)
def test_what_stands_behind_a_name_is_read_as_parameters(written: str, names: list[str]) -> None:
    found, plain = parameters(tokens(written) or [])
    assert [one.name for one in found] == names
    assert not plain
