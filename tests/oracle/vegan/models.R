# Writes models.json and the tables of mites and lichens: Rscript models.R (vegan 2.6-4, about two minutes).
suppressMessages({library(vegan); library(permute); library(jsonlite)})
data(mite); data(mite.env); data(dune); data(dune.env)
data(varespec); data(varechem)
write.csv(mite, "mite_data.csv", quote = FALSE)
write.csv(mite.env, "mite_env_data.csv", quote = FALSE)
write.csv(varespec, "vare_data.csv", quote = FALSE)
write.csv(varechem, "vare_env_data.csv", quote = FALSE)
more <- transform(dune.env, A1b = 2 * A1 + 3, A1sq = A1^2, SF = factor(ifelse(Management == "SF", "y", "n")))
gaps <- dune.env
gaps$A1[c(3, 7)] <- NA
gaps$Management[10] <- NA
models <- list(
  mite = list(mite ~ SubsDens + WatrCont + Substrate + Shrub + Topo, mite.env),
  mite_partial = list(mite ~ WatrCont + Shrub + Condition(Substrate + SubsDens), mite.env),
  ordered = list(dune ~ Moisture + A1 + Use, dune.env),
  strata = list(dune ~ A1 + Moisture, dune.env, "Management"),
  collinear = list(dune ~ A1 + A1b + Management + SF + A1sq, more),
  collinear_given = list(dune ~ A1 + Management + A1sq + Condition(SF + A1b), more),
  gaps = list(dune ~ A1 + Management, gaps),
  few_sites = list(dune[1:6, ] ~ A1 + Moisture + Management + Manure, dune.env[1:6, ]),
  lichens = list(varespec ~ N + P + K + Ca + Mg + S + Al + Fe + Mn + Zn + Mo + Baresoil + Humdepth + pH, varechem),
  lichens_partial = list(varespec ~ Al + P + K + Condition(Baresoil + pH), varechem)
)
summarise <- function(formula, frame, blocks = NULL) {
  env <<- frame  # where update() looks for it
  m <- eval(substitute(cca(f, env, na.action = na.omit), list(f = formula)), globalenv())
  of_kind <- function(kind, hill = FALSE) {
    values <- tryCatch(scores(m, display = kind, scaling = "symmetric", choices = 1:3, hill = hill), error = function(e) NULL)
    if (!length(values)) return(NULL)
    list(names = rownames(values), values = unname(as.matrix(values)))
  }
  test <- function(by) {
    set.seed(1)
    plan <- if (is.null(blocks)) how(nperm = 9999) else how(nperm = 9999, blocks = env[[blocks]])
    found <- tryCatch(
      if (by == "overall") anova(m, permutations = plan) else anova(m, by = by, permutations = plan),
      error = function(e) NULL)
    if (is.null(found) || is.null(m$CA$rank) || m$CA$rank == 0) return(NULL)
    list(terms = rownames(found), df = found[[1]], chi_square = found[[2]], f = found[[3]], pvalues = found[[4]])
  }
  set.seed(1)
  kinds <- c("wa", "lc", "sp", "bp", "cn", if (m$CA$rank > 0) "reg")  # that of a saturated model is wrong
  list(
    constrained = as.list(unname(m$CCA$eig)), unconstrained = as.list(unname(m$CA$eig)),
    inertias = list(m$tot.chi, if (is.null(m$pCCA)) 0 else m$pCCA$tot.chi, m$CCA$tot.chi, m$CA$tot.chi),
    vif = as.list(vif.cca(m)), spenvcor = as.list(unname(spenvcor(m))),
    r2 = unlist(RsquareAdj(m, permutations = 9999)),
    scores = Filter(Negate(is.null), sapply(kinds, of_kind, simplify = FALSE)),
    hill = Filter(Negate(is.null), sapply(setdiff(kinds, "reg"), of_kind, hill = TRUE, simplify = FALSE)),
    goodness = unname(goodness(m, display = "species")), inertcomp = unname(inertcomp(m, display = "species")),
    anova = Filter(Negate(is.null), sapply(c("overall", "terms", "margin", "axis"), test, simplify = FALSE)))
}
found <- lapply(models, function(model) do.call(summarise, model))
for (name in setdiff(names(found), "lichens_partial")) found[[name]][c("hill", "goodness", "inertcomp")] <- NULL
write_json(found, "models.json", digits = I(12), na = "null", null = "null", auto_unbox = TRUE)
