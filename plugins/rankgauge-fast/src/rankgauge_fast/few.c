/*
 * Dictionaries: rankings joined with judgments, ranked, and scored by the usual metrics, in one call.
 *
 * Nothing here decides what is right. What is no plain dictionary of texts and finite numbers is handed back (None), and
 * rankgauge.judging.few, or columns, read it or say what is wrong. A query that the usual metrics have no score for is
 * returned as its pattern. Numbers are added in the order of rankgauge.scoring.usual, so that they round alike.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_WHOLE (1LL << 53) /* up to which every whole number is a double */
#define LOWEST_GRADE (-4)
#define HIGHEST_GRADE 100
#define MOST_COMPARED (1 << 14) /* how many ids of ties are compared in a query; more are left to a sort */
#define MOST_QUERIES (1 << 14)  /* columns, which read dictionaries in the order of memory, are as fast for more */
#define MOST_UNSCORED 100       /* how many queries, and a sixteenth of all, may come back as patterns */

enum { RECALL, RECALL_ALL, HIT, PRECISION, F1, RECIPROCAL_RANK, AVERAGE_PRECISION, NDCG };

/* A metric: which one, its cutoff (infinite if it has none), and from which grade on a document is relevant. */
typedef struct {
    double metric, k, minimum, is_strict;
} Column;

typedef struct {
    int64_t rank; /* 0 if it was not retrieved */
    double grade;
} Judgment;

typedef struct {
    /* what is given */
    PyObject *kind_of_dict, *kind_of_float; /* beside dict and float */
    const Column *columns;
    int64_t n_columns;
    const double *discounts; /* by rank */
    int64_t deepest;         /* up to which rank there are discounts */
    double minimum, largest, last_bits;
    int is_strict, is_narrow;
    /* of a query */
    Judgment *judged, *found; /* as they are listed; those that were retrieved, by rank */
    double *wanted;           /* the grades above 0, or all that the profile calls relevant, the highest first */
    double *scores;           /* of its results, the highest first */
    int64_t *tie_first;       /* of each judgment the first rank of its tie, 0 if it shares its score with none */
    int64_t *tie_size;
    int64_t judged_room, scores_room, n_judged, n_found, depth, n_compared;
    /* of all queries */
    int64_t n_grades, n_odd_grades, n_matched, n_tied, deepest_ranking;
    int lacks_gold, has_floats, has_zero;
} Few;

static int is_dict(const Few *few, PyObject *given)
{
    return PyDict_CheckExact(given) || (PyObject *)Py_TYPE(given) == few->kind_of_dict;
}

/* Return whether a number is a whole one that a double holds; set it. */
static int is_whole(PyObject *given, double *number)
{
    int overflows;
    if (!PyLong_CheckExact(given))
        return 0;
    long long whole = PyLong_AsLongLongAndOverflow(given, &overflows);
    *number = (double)whole;
    return !overflows && -LARGEST_WHOLE <= whole && whole <= LARGEST_WHOLE;
}

/* Return whether a number is a finite float, or of the other kind of floats; set it. */
static int is_finite(PyObject *given, PyObject *other_kind, double *number)
{
    if (!PyFloat_CheckExact(given) && (PyObject *)Py_TYPE(given) != other_kind)
        return 0;
    *number = PyFloat_AsDouble(given);
    return isfinite(*number);
}

static int holds(double grade, double minimum, int is_strict)
{
    return is_strict ? grade > minimum : grade >= minimum;
}

/* Make room in the arrays of a query; return whether there is. */
static int make_room(Few *few, int64_t judged, int64_t scores)
{
    if (judged > few->judged_room) {
        free(few->judged);
        few->judged_room = 2 * judged;
        few->judged = malloc((size_t)few->judged_room * (2 * sizeof(Judgment) + sizeof(double) + 2 * sizeof(int64_t)));
        if (few->judged == NULL)
            return 0;
        few->found = few->judged + few->judged_room;
        few->wanted = (double *)(few->found + few->judged_room);
        few->tie_first = (int64_t *)(few->wanted + few->judged_room);
        few->tie_size = few->tie_first + few->judged_room;
    }
    if (scores > few->scores_room) {
        free(few->scores);
        few->scores_room = 2 * scores;
        few->scores = malloc((size_t)few->scores_room * sizeof(double));
    }
    return scores == 0 || few->scores != NULL;
}

/* Read the grades of a query; return whether all are plain. */
static int read_grades(Few *few, PyObject *judged)
{
    PyObject *document, *given;
    Py_ssize_t at = 0;
    few->n_judged = 0;
    while (PyDict_Next(judged, &at, &document, &given)) {
        double grade;
        if (!PyUnicode_CheckExact(document))
            return 0;
        if (!is_whole(given, &grade)) {
            if (!is_finite(given, NULL, &grade))
                return 0;
            few->has_floats = 1;
        }
        few->has_zero |= grade == 0;
        few->n_odd_grades += grade != floor(grade) || grade < LOWEST_GRADE || grade > HIGHEST_GRADE;
        few->judged[few->n_judged++].grade = grade;
    }
    few->n_grades += few->n_judged;
    return 1;
}

static double as_compared(const Few *few, double score)
{
    return few->is_narrow ? (double)(float)score : score;
}

static int falling(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

static int by_rank(const void *one, const void *other)
{
    int64_t a = ((const Judgment *)one)->rank, b = ((const Judgment *)other)->rank;
    return (a > b) - (a < b);
}

/* Read the scores of a ranking, the highest first; return whether all are plain. */
static int read_scores(Few *few, PyObject *ranking)
{
    PyObject *document, *given;
    Py_ssize_t at = 0;
    int falls = 1;
    double before = INFINITY;
    few->depth = 0;
    while (PyDict_Next(ranking, &at, &document, &given)) {
        double score;
        if (!PyUnicode_CheckExact(document) ||
            !(is_finite(given, few->kind_of_float, &score) || is_whole(given, &score)))
            return 0;
        score = as_compared(few, score);
        falls &= score <= before;
        few->scores[few->depth++] = before = score;
    }
    if (!falls)
        qsort(few->scores, (size_t)few->depth, sizeof(double), falling);
    return 1;
}

/* Return how many of the scores are above one, or at least as high if *equals*. */
static int64_t count_above(const Few *few, double score, int equals)
{
    int64_t low = 0, high = few->depth;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (equals ? few->scores[middle] >= score : few->scores[middle] > score)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Return how many documents with a score come before one that has it, too: those whose id sorts behind it by bytes. -1
 * if there are too many, or one is no text, as a lone surrogate is not.
 */
static int64_t count_behind(Few *few, PyObject *ranking, PyObject *document, double score)
{
    PyObject *other, *given;
    Py_ssize_t at = 0, size, other_size;
    const char *bytes = PyUnicode_AsUTF8AndSize(document, &size);
    int64_t behind = 0;
    if (bytes == NULL)
        return -1;
    few->n_compared += few->depth;
    if (few->n_compared > MOST_COMPARED)
        return -1;
    while (PyDict_Next(ranking, &at, &other, &given)) {
        if (as_compared(few, PyFloat_AsDouble(given)) != score || other == document)
            continue;
        const char *others = PyUnicode_AsUTF8AndSize(other, &other_size);
        if (others == NULL)
            return -1;
        int order = memcmp(others, bytes, (size_t)(size < other_size ? size : other_size));
        behind += order > 0 || (order == 0 && other_size > size);
    }
    return behind;
}

/* Find the rank of each judgment; return whether ties are plain. */
static int rank_judged(Few *few, PyObject *judged, PyObject *ranking)
{
    PyObject *document, *grade;
    Py_ssize_t at = 0;
    few->n_found = few->n_compared = 0;
    for (int64_t nth = 0; PyDict_Next(judged, &at, &document, &grade); nth++) {
        Judgment *judgment = &few->judged[nth];
        PyObject *given = PyDict_GetItemWithError(ranking, document);
        few->tie_first[nth] = judgment->rank = 0;
        if (given == NULL) {
            if (PyErr_Occurred())
                return 0;
            few->lacks_gold |= judgment->grade > 0 || holds(judgment->grade, few->minimum, few->is_strict);
            continue;
        }
        double score = as_compared(few, PyFloat_AsDouble(given));
        int64_t above = count_above(few, score, 0), last = count_above(few, score, 1);
        judgment->rank = above + 1;
        if (last > above + 1) {
            int64_t behind = count_behind(few, ranking, document, score);
            if (behind < 0)
                return 0;
            few->tie_first[nth] = above + 1;
            few->tie_size[nth] = last - above;
            judgment->rank += behind;
        }
        few->found[few->n_found++] = *judgment;
    }
    qsort(few->found, (size_t)few->n_found, sizeof(Judgment), by_rank);
    return 1;
}

/* Return what a document earns: its grade; minus infinity if it earns nothing. */
static double earned(const Few *few, double grade)
{
    return grade > 0 || holds(grade, few->minimum, few->is_strict) ? grade : -INFINITY;
}

/* Return whether documents that share a score earn differently, so that their order may change a score. */
static int has_mixed_ties(const Few *few)
{
    for (int64_t nth = 0; nth < few->n_judged; nth++) {
        int64_t first = few->tie_first[nth], members = 0;
        if (!first)
            continue;
        double earns = earned(few, few->judged[nth].grade);
        for (int64_t other = 0; other < few->n_judged; other++)
            if (few->tie_first[other] == first) {
                members++;
                if (earned(few, few->judged[other].grade) != earns)
                    return 1;
            }
        if (members < few->tie_size[nth] && earns != -INFINITY)
            return 1;
    }
    return 0;
}

static int ndcg(const Few *few, const Column *column, double *score)
{
    double minimum = column->minimum, earned = 0, best = 0;
    int is_strict = column->is_strict != 0;
    if (!is_strict && minimum != -INFINITY) {
        minimum = 0;
        is_strict = 1;
    }
    int64_t n = 0;
    for (int64_t nth = 0; nth < few->n_judged; nth++)
        if (holds(few->judged[nth].grade, minimum, is_strict))
            few->wanted[n++] = few->judged[nth].grade;
    if (n >= few->deepest)
        return 0;
    for (int64_t nth = 0; nth < few->n_found; nth++) {
        if (!holds(few->found[nth].grade, minimum, is_strict))
            continue;
        if (few->found[nth].rank >= few->deepest)
            return 0;
        if ((double)few->found[nth].rank <= column->k)
            earned += few->found[nth].grade / few->discounts[few->found[nth].rank];
    }
    qsort(few->wanted, (size_t)n, sizeof(double), falling);
    for (int64_t rank = 1; rank <= n && (double)rank <= column->k; rank++)
        best += few->wanted[rank - 1] / few->discounts[rank];
    if (best == 0 || !(fabs(best) <= few->largest))
        return 0;
    *score = earned / best;
    if (*score > 1 && *score < 1 + few->last_bits)
        *score = 1;
    return 1;
}

/* Score a query by a metric; return 0 if it has no score for it, or one that is left to columns. */
static int score_query(const Few *few, const Column *column, double *score)
{
    int64_t wanted = 0, within = 0, first = 0;
    double total = 0, k = column->k;
    int is_strict = column->is_strict != 0, metric = (int)column->metric;
    if ((metric == PRECISION || metric == F1) && isinf(k))
        return 0;
    for (int64_t nth = 0; nth < few->n_judged; nth++)
        wanted += holds(few->judged[nth].grade, column->minimum, is_strict);
    if (!wanted)
        return 0;
    for (int64_t nth = 0; nth < few->n_found && (double)few->found[nth].rank <= k; nth++)
        if (holds(few->found[nth].grade, column->minimum, is_strict)) {
            first = first ? first : few->found[nth].rank;
            total += (double)++within / (double)few->found[nth].rank;
        }
    double recall = (double)within / (double)wanted, precision = (double)within / k;
    switch (metric) {
    case RECALL:
        *score = recall;
        break;
    case RECALL_ALL:
        *score = within == wanted;
        break;
    case HIT:
        *score = within > 0;
        break;
    case PRECISION:
        *score = precision;
        break;
    case F1:
        *score = within ? 2 * precision * recall / (precision + recall) : 0;
        break;
    case RECIPROCAL_RANK:
        *score = first ? 1 / (double)first : 0;
        break;
    case AVERAGE_PRECISION:
        *score = total / (double)wanted;
        break;
    case NDCG:
        if (!ndcg(few, column, score))
            return 0;
        break;
    default:
        return 0;
    }
    return fabs(*score) <= few->largest;
}

/* Return a query as its number, depth (None if the run lacks it), grades and ranks. */
static PyObject *pattern_of(const Few *few, Py_ssize_t query, PyObject *judged, int is_missing)
{
    PyObject *listed = PyDict_Values(judged);
    PyObject *grades = listed == NULL ? NULL : PyList_AsTuple(listed);
    PyObject *ranks = PyTuple_New(is_missing ? 0 : (Py_ssize_t)few->n_judged);
    PyObject *depth = is_missing ? (Py_INCREF(Py_None), Py_None) : PyLong_FromLongLong(few->depth);
    Py_XDECREF(listed);
    for (int64_t nth = 0; ranks != NULL && !is_missing && nth < few->n_judged; nth++) {
        PyObject *rank = PyLong_FromLongLong(few->judged[nth].rank);
        if (rank == NULL || PyTuple_SetItem(ranks, (Py_ssize_t)nth, rank) < 0)
            Py_CLEAR(ranks);
    }
    if (grades == NULL || ranks == NULL || depth == NULL) {
        Py_XDECREF(grades);
        Py_XDECREF(ranks);
        Py_XDECREF(depth);
        return NULL;
    }
    return Py_BuildValue("n(NNN)", query, depth, grades, ranks);
}

/* Copy the judgments of each query that has some, in byte order; NULL, without an error if they are not plain. */
static PyObject *copied(const Few *few, PyObject *qrels)
{
    PyObject *names = PyDict_Keys(qrels), *judgments = PyDict_New(), *result = NULL;
    Py_ssize_t size, n = names == NULL ? 0 : PyList_Size(names);
    if (names == NULL || judgments == NULL)
        goto done;
    for (Py_ssize_t query = 0; query < n; query++) {
        PyObject *name = PyList_GetItem(names, query);
        if (!PyUnicode_CheckExact(name) || PyUnicode_AsUTF8AndSize(name, &size) == NULL)
            goto done;
    }
    if (PyList_Sort(names) < 0) /* characters sort as their bytes do */
        goto done;
    for (Py_ssize_t query = 0; query < n; query++) {
        PyObject *name = PyList_GetItem(names, query), *judged = PyDict_GetItemWithError(qrels, name);
        if (judged == NULL || !is_dict(few, judged))
            goto done;
        if (PyDict_Size(judged) == 0)
            continue;
        Py_INCREF(judged); /* collecting garbage may run anything */
        PyObject *copy = PyDict_Copy(judged);
        Py_DECREF(judged);
        int failed = copy == NULL || PyDict_SetItem(judgments, name, copy) < 0;
        Py_XDECREF(copy);
        if (failed)
            goto done;
    }
    result = judgments;
    Py_INCREF(result);
done:
    Py_XDECREF(names);
    Py_XDECREF(judgments);
    return result;
}

/* Return whether a run is a dictionary of dictionaries of texts, as far as the queries that are not judged show. */
static int is_plain_run(const Few *few, PyObject *run)
{
    PyObject *name, *ranking, *document, *score;
    Py_ssize_t at = 0;
    while (PyDict_Next(run, &at, &name, &ranking)) {
        Py_ssize_t first = 0;
        if (!PyUnicode_CheckExact(name) || !is_dict(few, ranking))
            return 0;
        if (PyDict_Next(ranking, &first, &document, &score) && !PyUnicode_CheckExact(document))
            return 0;
    }
    return 1;
}

/*
 * score_few(qrels, run, (kind of dictionary, kind of float), columns, discounts, minimum, is strict, is narrow, whether
 * no query may lack, largest score, last bits): judgments, scores by column and query, what has no scores, and counts
 * (queries that lack, queries with ties, results that are judged, the longest ranking, whether gold lacks); or None
 */
PyObject *score_few(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *qrels, *run, *judgments = NULL, *odd = NULL, *scores = NULL, *result = NULL;
    Py_buffer columns, discounts;
    Few few;
    memset(&few, 0, sizeof few);
    int needs_all;
    if (!PyArg_ParseTuple(args, "OO(OO)y*y*dpppdd", &qrels, &run, &few.kind_of_dict, &few.kind_of_float, &columns,
                          &discounts, &few.minimum, &few.is_strict, &few.is_narrow, &needs_all, &few.largest,
                          &few.last_bits))
        return NULL;
    few.columns = columns.buf;
    few.n_columns = columns.len / (Py_ssize_t)sizeof(Column);
    few.discounts = discounts.buf;
    few.deepest = discounts.len / (Py_ssize_t)sizeof(double);
    int64_t n_missing = 0, n_results = 0;
    if (!is_dict(&few, qrels) || !is_dict(&few, run) || PyDict_Size(qrels) > MOST_QUERIES || !is_plain_run(&few, run) ||
        (judgments = copied(&few, qrels)) == NULL)
        goto done;
    Py_ssize_t n = PyDict_Size(judgments), at = 0;
    if (few.n_columns == 0 && n > MOST_UNSCORED)
        goto done;
    odd = PyList_New(0);
    scores = PyByteArray_FromStringAndSize(NULL, n * (Py_ssize_t)few.n_columns * (Py_ssize_t)sizeof(double));
    if (odd == NULL || scores == NULL)
        goto done;
    double *to = (double *)(void *)PyByteArray_AsString(scores);
    PyObject *name, *judged;
    for (Py_ssize_t query = 0; PyDict_Next(judgments, &at, &name, &judged); query++) {
        if (query % 1024 == 1023 && PyErr_CheckSignals() < 0)
            goto done;
        PyObject *ranking = PyDict_GetItemWithError(run, name);
        if (ranking == NULL ? PyErr_Occurred() || needs_all : !is_dict(&few, ranking))
            goto done;
        if (!make_room(&few, PyDict_Size(judged), ranking == NULL ? 0 : PyDict_Size(ranking))) {
            PyErr_NoMemory();
            goto done;
        }
        if (!read_grades(&few, judged))
            goto done;
        int is_scored = ranking != NULL && few.n_columns > 0;
        if (ranking == NULL)
            n_missing++;
        else {
            if (!read_scores(&few, ranking) || !rank_judged(&few, judged, ranking))
                goto done;
            n_results += few.depth;
            few.n_matched += few.n_found;
            few.n_tied += has_mixed_ties(&few);
            few.deepest_ranking = few.depth > few.deepest_ranking ? few.depth : few.deepest_ranking;
        }
        for (int64_t column = 0; is_scored && column < few.n_columns; column++)
            is_scored = score_query(&few, &few.columns[column], &to[column * n + query]);
        if (!is_scored) {
            if (PyList_Size(odd) >= MOST_UNSCORED + n / 16)
                goto done;
            PyObject *pattern = pattern_of(&few, query, judged, ranking == NULL);
            int failed = pattern == NULL || PyList_Append(odd, pattern) < 0;
            Py_XDECREF(pattern);
            if (failed)
                goto done;
        }
    }
    /* grades that may be scores of a run, and zeros with a sign, which are the same in a pattern */
    if (n_results == 0 || 2 * few.n_odd_grades > few.n_grades ||
        (few.has_floats && few.has_zero && PyList_Size(odd) > 0))
        goto done;
    result = Py_BuildValue("OOO(LLLLi)", judgments, scores, odd, (long long)n_missing, (long long)few.n_tied,
                           (long long)few.n_matched, (long long)few.deepest_ranking, few.lacks_gold);
done:
    PyBuffer_Release(&columns);
    PyBuffer_Release(&discounts);
    free(few.judged);
    free(few.scores);
    Py_XDECREF(judgments);
    Py_XDECREF(odd);
    Py_XDECREF(scores);
    if (result != NULL)
        return result;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_UnicodeError))
        return NULL;
    PyErr_Clear();
    Py_RETURN_NONE;
}
