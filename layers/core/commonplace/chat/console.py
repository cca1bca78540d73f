from commonplace.web.pages.declaration import ConsolePages
def pages(context): return ConsolePages(pages=[])
