"""The look of drawings: the colours of the web page, for light and dark."""
LIGHT = {'text': '#1a1b22', 'quiet': '#4e505b', 'line': '#e4e4ea', 'ground': '#ffffff'}
DARK = {'text': '#ececf2', 'quiet': '#aeb0bc', 'line': '#272931', 'ground': '#15161b'}
# Of each series, light and dark: running, waiting, done, in doubt, failed, asleep.
SERIES = (('#1a86dc', '#63b3f4'), ('#bd6f0a', '#dd9636'), ('#1f8a53', '#3db57a'),
          ('#b23f98', '#d96cba'), ('#d23a2c', '#f0695d'), ('#463fa3', '#7c72e0'))


def _rules(colours, shade):
    series = [f'.s{n} {{ stroke: {both[shade]}; }} .f{n} {{ fill: {both[shade]}; }}'
              for n, both in enumerate(SERIES)]
    return ' '.join([
        f"svg {{ background: {colours['ground']}; }}", f"text {{ fill: {colours['quiet']}; }}",
        f".title {{ fill: {colours['text']}; }}", f".grid {{ stroke: {colours['line']}; }}",
        *series])


STYLE = f'''
  text {{ font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
  .title {{ font-weight: 600; }}
  {_rules(LIGHT, 0)}
  @media (prefers-color-scheme: dark) {{ {_rules(DARK, 1)} }}
'''


def opening(title, width, height):
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f'<title>{title}</title><style>{STYLE}</style>',
        f'<text class="title" x="12" y="24">{title}</text>',
    ]
